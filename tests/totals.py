#!/usr/bin/env python3
"""Adds up the results of every test run of ./check.

totals.py FOLDER reads FOLDER/*.xml (ctest --output-junit), the file of the same name ending in
.json (ctest --show-only=json-v1, for the labels) and FOLDER/*.note ("passed" or "failed"). Prints
what failed and what was skipped, then `N passed, N failed, N skipped`. Exit status 1 if anything
failed or nothing passed. With CI=true a skipped test that needs a mount counts as failed.
"""

import json
import os
import pathlib
import sys
import xml.etree.ElementTree

# A test without a label, or with others than these, may need a mount.
WITHOUT_MOUNT = {"unit", "sweep", "litmus", "install", "lint"}


def labels_of(plan):
    """The labels of each test, by name."""
    labels = {}
    for test in json.loads(plan.read_text())["tests"]:
        values = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        labels[test["name"]] = set(values.get("LABELS", []))
    return labels


def outcome_of(case, labels):
    """("passed" | "failed" | "skipped", remark) of one <testcase>."""
    status = case.get("status")
    if status == "run":
        return "passed", ""
    if status == "fail":
        return "failed", ""
    skip = case.find("skipped")
    reason = "disabled" if skip is None else skip.get("message", "")
    if status == "notrun" and not reason.startswith("SKIP_"):
        return "failed", reason  # The program is not there.
    needs_mount = not labels.get(case.get("name"), set()) & WITHOUT_MOUNT
    if os.environ.get("CI") == "true" and needs_mount:
        return "failed", "skipped, which CI does not allow"
    return "skipped", reason


def outcomes_of(folder):
    for report in sorted(folder.glob("*.xml")):
        labels = labels_of(report.with_suffix(".json"))
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            yield (report.stem + ": " + case.get("name"), *outcome_of(case, labels))
    # A run that was asked for and left no report has failed as a whole.
    for plan in sorted(folder.glob("*.json")):
        if not plan.with_suffix(".xml").exists():
            yield plan.stem, "failed", "ctest wrote no results"
    for note in sorted(folder.glob("*.note")):
        yield note.stem, note.read_text().strip(), ""


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, outcome, remark in outcomes_of(pathlib.Path(sys.argv[1])):
        counts[outcome] += 1
        if outcome != "passed":
            print(f"{outcome}: {name}" + (f" ({remark})" if remark else ""))
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
