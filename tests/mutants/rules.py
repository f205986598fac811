#!/usr/bin/env python3
"""Every rule that docs/mutants.md calls a crash rule is found by an exploration when it is switched
off, and nothing is found when it is on. Rules of the other classes are not claimed here: no crash
shows them, and tests/unit/journal finds them by damage, failing calls and a second writer."""

import re

from journal_case import JournalCase, created, linked, renamed, tornfs, written

APPEND = "journal append --dir j --group 3 {without}"
RECOVER = "journal recover --dir j {without}"
# Records longer than a page: a write of two of them can lose its beginning and keep its end.
LONG_RECORDS = "".join(f"{number} " * 2500 + "\n" for number in range(1, 9))


class Script:
    """An exploration that shows a rule to be missing."""

    def __init__(self, cause, *options, workload=APPEND, recover=RECOVER, records=tornfs.records(20)):
        self.cause = cause
        self.options = options
        self.workload = workload
        self.recover = recover
        self.records = records


SECTORS = ("--tear", "sector", "--faults", "power")
KILLS = ("--tear", "sector", "--faults", "kill,power")
# A restarted journal that goes on.
RECOVER_AND_APPEND = RECOVER + " && echo more | journal append --dir j {without}"
FRONTIER_NAME = renamed("j/frontier.tmp", "j/frontier")

SEGMENTS = "journal segments --dir j --max-size 600 {without} && journal append --dir j --group 2 {without}"

SCRIPTS = {
    "sync-records-before-publish": Script(written("j/prepares-0.wal"), *SECTORS),
    "sync-frontier-on-publish": Script(written("j/frontier"), *SECTORS),
    "sync-frontier-at-open": Script(written("j/frontier"), *KILLS),
    "sync-directory-before-frontier": Script(created("j/prepares-0.wal"), *SECTORS),
    "sync-directory-after-rename": Script(FRONTIER_NAME, *SECTORS),
    "sync-directory-before-publish": Script(
        created("j/prepares-1.wal"), *SECTORS,
        workload=APPEND + " --checkpoint 10",
    ),
    # A killed open leaves the name of the frontier pending; the next one must not build on it.
    "sync-directory-at-open": Script(FRONTIER_NAME, *KILLS, recover=RECOVER_AND_APPEND),
    "sync-bodies-before-publish": Script(
        written("j/segment-0-0.log"), *SECTORS, workload=SEGMENTS, records=tornfs.records(2),
    ),
    "sync-links-before-publish": Script(
        linked("j/segment-0-0.log"), *SECTORS, workload=SEGMENTS, records=tornfs.records(2),
    ),
    # The first reference behind records without one, under a torn slot.
    "accept-references-in-tail": Script(
        written("j/frontier"),
        "--tear", "byte", "--faults", "power",
        workload=APPEND + " && echo more | journal append --dir j --referenced {without}",
        records=tornfs.records(1),
    ),
    # The last group, two records, was never synced when the checkpoint's slot is torn: samples,
    # because it takes a torn write and a lost page together.
    "sync-outgoing-before-rewrite": Script(
        written("j/prepares-0.wal"),
        "--tear", "byte", "--faults", "power", "--strategy", "random", "--window-states", "1500",
        workload=APPEND + " --checkpoint 2",
        records=LONG_RECORDS,
    ),
    # The backup has its name only in the page cache when the next process puts it back.
    "sync-backup-before-recovery": Script(
        renamed("j/.install-building", "j/.install-backup"), *KILLS,
        workload=(
            "journal append --dir j --group 4 {without} && journal backup --dir j --to b {without}"
            " && echo late | journal append --dir j {without}"
            " && journal restore --dir j --from b {without}"
        ),
        records=tornfs.records(4),
    ),
    # The slot of the certification is torn, and no record is lost; then the append of the recovery
    # is cut.
    "republish-damaged-slot": Script(
        written("j/frontier"),
        "--tear", "byte", "--faults", "power", "--depth", "2",
        workload="journal append --dir j {without} && journal certify --dir j --view 1 {without}",
        recover=RECOVER_AND_APPEND,
        records=tornfs.records(2),
    ),
}


def documented():
    """The classes of docs/mutants.md by rule."""
    text = (tornfs.SOURCE / "docs/mutants.md").read_text()
    return dict(re.findall(r"^\| `([a-z-]+)` \|[^|]*\|[^|]*\| ([^|]+) \|", text, re.MULTILINE))


class Rules(JournalCase):
    def explore_script(self, script, rule=None):
        return self.explore_journal(
            *script.options,
            workload=script.workload,
            recover=script.recover,
            input=script.records,
            rule=rule,
        )

    def test_the_repaired_journal_survives(self):
        for rule, script in SCRIPTS.items():
            with self.subTest(script=rule):
                self.assert_clean(self.explore_script(script))

    def test_every_crash_rule_is_found(self):
        for rule, script in SCRIPTS.items():
            with self.subTest(rule=rule):
                findings = self.assert_found(self.explore_script(script, rule))
                for finding in findings:
                    self.assertIn(script.cause[2], finding["sentence"])

    def test_the_scripts_are_those_of_the_documented_crash_rules(self):
        classes = documented()
        crash = {rule for rule, name in classes.items() if name.startswith("crash/")}
        self.assertEqual(set(SCRIPTS), crash)
        text = self.must("journal", "append", "--help").out.partition("Rules for --without:")[2]
        listed = set(re.findall(r"^  ([a-z]+(?:-[a-z]+)+) ", text, re.MULTILINE))
        self.assertEqual(set(classes), listed)
        for rule in sorted(set(classes) - crash):
            print(f"not a crash rule, not claimed here: {rule} ({classes[rule]})")


if __name__ == "__main__":
    tornfs.main()
