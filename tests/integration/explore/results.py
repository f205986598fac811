#!/usr/bin/env python3
"""What becomes of an exploration's results: reports, explorations of a trace, shards, smaller
findings, and fixes."""

import json
import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

REPORTS = ("report.html", "report.json", "junit.xml")
CHECK = ("--check", "save_config check {promises}")
# Fails for more than one reason, over several crash points.
WORKLOAD = ("save_config", "--no-file-sync", "--no-directory-sync", "3")


def without_timing(text):
    stats = json.loads(text)
    stats.pop("timing")
    return stats


class Results(tornfs.Case):
    def out(self, name="out"):
        return self.folder / name

    def read(self, *path):
        return self.folder.joinpath(*path).read_bytes()

    def same_results(self, one, other):
        """Byte for byte, fields under timing aside."""
        self.assertEqual(without_timing(self.read(one, "stats.json")),
                         without_timing(self.read(other, "stats.json")))
        names = sorted(str(path.relative_to(self.out(one))) for path in self.out(one).rglob("*"))
        others = sorted(str(path.relative_to(self.out(other))) for path in self.out(other).rglob("*"))
        self.assertEqual([name for name in names if name != "shard.json"],
                         [name for name in others if name != "shard.json"])
        for name in names:
            if name in ("stats.json", "shard.json") or not (self.out(one) / name).is_file():
                continue
            self.assertEqual(self.read(one, name), self.read(other, name), name)

    def test_reports(self):
        result = self.explore(*CHECK, workload=WORKLOAD)
        self.assertEqual(result.status, 1, str(result))
        page = self.read("out", "report.html").decode()
        for finding in result.stats["findings"]:
            self.assertIn(finding["id"], page)
        self.assertIsNone(re.search(r"(src|href)=.(https?:|//)", page))
        for kind in ("promise", "lost", "crash"):
            self.assertIn(f'<span class="{kind}">', page)
        suite = xml.fromstring(self.read("out", "junit.xml")).find("testsuite")
        self.assertEqual(int(suite.get("failures")), len(result.stats["findings"]))
        self.assertEqual(len(suite.findall("testcase/failure")), len(result.stats["findings"]))
        report = json.loads(self.read("out", "report.json"))
        self.assertEqual(report["exit_code"], 1)
        for finding in report["findings"]:
            self.assertIn("LOST", finding["timeline"])
            self.assertTrue(finding["differences"])
        formats = {"html": "report.html", "json": "report.json", "junit": "junit.xml"}
        for name, file in formats.items():
            shown = self.must("tornfs", "report", self.out(), "--format", name).out
            self.assertEqual(shown.encode(), self.read("out", file))
        self.assertIn("#### ", self.must("tornfs", "report", self.out()).out)
        lines = self.must("tornfs", "report", self.out(), "--format", "github").out.splitlines()
        self.assertEqual(len(lines), len(result.stats["findings"]) + 1)
        self.assertTrue(all(line.startswith("::error title=") for line in lines))
        self.must("tornfs", "report", self.out(), "--format", "pdf", status=2)
        self.must("tornfs", "report", self.folder, status=2)

    def test_report_of_a_good_program(self):
        self.assert_clean(self.explore(*CHECK, workload=("save_config", "1")))
        suite = xml.fromstring(self.read("out", "junit.xml")).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))
        self.assertIn("::notice ", self.must("tornfs", "report", self.out(), "--format", "github").out)

    def test_odd_names_are_no_markup(self):
        name = "<b>&'\"\x01]]>"
        check = self.folder / "check.sh"
        check.write_text("test -s \"$TORNFS_PROMISES\" || exit 0\n"
                         "test -s old && exit 0\necho \"<script>alert(1)</script> & more\"\nexit 1\n")
        self.explore("--check", f"sh {check}", statuses=(1,),
                     workload=("sh", "-c", 'echo a > old; echo b > "$1"; echo done', "sh", name))
        page = self.read("out", "report.html").decode()
        self.assertNotIn("<script>", page)
        self.assertNotIn("<b>", page)
        xml.fromstring(self.read("out", "junit.xml"))

    def test_equal_for_any_number_of_workers(self):
        self.explore(*CHECK, workload=WORKLOAD)
        for jobs in ("1", "3"):
            self.explore_from(self.out(), f"jobs{jobs}", "--jobs", jobs)
        self.same_results("jobs1", "jobs3")

    def test_from_a_trace(self):
        first = self.explore(*CHECK, workload=WORKLOAD)
        again = self.explore_from(self.out() / "trace", "again")
        self.assertEqual(again.status, first.status)
        self.same_results("out", "again")
        self.explore_from(self.out(), "folder")
        self.same_results("out", "folder")
        strict = self.explore_from(self.out(), "strict", "--model", "strict")
        self.assertLess(int(strict.stats["lazy"]["legal"]), int(first.stats["lazy"]["legal"]))
        self.assertEqual(strict.stats["exploration"]["check"], CHECK[1])
        self.assert_clean(self.explore_from(self.out(), "true", "--check", "true"))
        whole = self.explore_from(self.out(), "whole", "--tear", "none")
        self.assertLess(int(whole.stats["lazy"]["legal"]), int(first.stats["lazy"]["legal"]))
        # Over its own trace.
        self.explore_from(self.out(), "out")
        self.same_results("again", "out")

    def explore_from(self, trace, out, *options):
        result = self.run_program("tornfs", "explore", "--json", "--from", trace, "--out",
                                  self.out(out), *options)
        self.assertIn(result.status, (0, 1), str(result))
        result.stats = json.loads(result.out)
        return result

    def test_a_model_of_the_trace_is_another_history(self):
        self.explore("--model", "strict", *CHECK, workload=WORKLOAD)
        found = self.explore_from(self.out(), "posix", "--model", "posix")
        direct = self.explore("--model", "posix", *CHECK, workload=WORKLOAD, out="direct")
        self.assertEqual({each["signature"] for each in found.stats["findings"]},
                         {each["signature"] for each in direct.stats["findings"]})
        self.assert_found(found, out="posix", times=2)

    def test_bad_traces_and_command_lines(self):
        self.explore(*CHECK, workload=("save_config", "1"))
        for options in ((), ("--from", self.out(), "--import", self.folder),
                        ("--from", self.folder / "none"), ("--from", self.out(), "--", "true")):
            self.must("tornfs", "explore", "--out", self.out("no"), *options, status=2)
        broken = self.folder / "broken"
        broken.write_bytes(self.read("out", "trace")[:-7])
        self.must("tornfs", "explore", "--out", self.out("no"), "--from", broken, status=3)

    def test_shards_make_one(self):
        self.explore(*CHECK, workload=WORKLOAD)
        self.explore_from(self.out(), "whole")
        for count in (2, 5):
            folders = []
            for index in range(1, count + 1):
                name = f"shard{index}of{count}"
                self.explore_from(self.out(), name, "--shard", f"{index}/{count}")
                folders.append(self.out(name))
            merged = self.run_program("tornfs", "merge", self.out(f"merged{count}"),
                                      *reversed(folders))
            self.assertEqual(merged.status, 1, str(merged))
            self.same_results("whole", f"merged{count}")
        self.must("tornfs", "merge", self.out("some"), *folders[1:], status=2)
        self.must("tornfs", "merge", self.out("twice"), *folders[1:], folders[1], status=2)
        self.must("tornfs", "merge", self.out("none"), self.out("whole"), status=2)
        self.explore_from(self.out(), "other", "--shard", "1/5", "--tear", "none")
        self.must("tornfs", "merge", self.out("mixed"), self.out("other"), *folders[1:], status=2)

    def test_shards_by_variables(self):
        self.explore(*CHECK, workload=WORKLOAD)
        self.environment |= {"TEST_TOTAL_SHARDS": "2", "TEST_SHARD_INDEX": "1"}
        by_variable = self.explore_from(self.out(), "variable")
        self.environment["TEST_SHARD_INDEX"] = "2"
        self.must("tornfs", "explore", "--from", self.out(), "--out", self.out("no"), status=2)
        del self.environment["TEST_TOTAL_SHARDS"], self.environment["TEST_SHARD_INDEX"]
        by_option = self.explore_from(self.out(), "option", "--shard", "2/2")
        self.assertEqual(without_timing(by_variable.out), without_timing(by_option.out))
        for text in ("0/2", "3/2", "1", "1/", "/2", "a/2", "1/0"):
            self.must("tornfs", "explore", "--from", self.out(), "--out", self.out("no"),
                      "--shard", text, status=2)

    def test_shrink(self):
        result = self.explore(*CHECK, workload=WORKLOAD)
        for finding in result.stats["findings"]:
            smaller = self.must("tornfs", "shrink", finding["id"], "--out", self.out(), "--json")
            shrunk = json.loads(smaller.out)
            self.assertEqual(shrunk["signature"], finding["signature"])
            self.assertLessEqual(shrunk["lost"], shrunk["lost_before"])
            again = self.must("tornfs", "replay", shrunk["id"], "--out", self.out(), status=1)
            self.assertIn("reproduced 1 of 1", again.err)
        self.must("tornfs", "shrink", "f-000000000000", "--out", self.out(), status=2)

    def test_recheck(self):
        result = self.explore(*CHECK, workload=("save_config", "--no-file-sync", "2"))
        for finding in result.stats["findings"]:
            folder = self.out() / "findings" / finding["id"]
            again = self.must("tornfs", "recheck", folder, *CHECK, "--json", status=1)
            self.assertEqual(json.loads(again.out)["title"], finding["title"])
            before = ("tornfs", "recheck", folder / "before", "--promises", folder / "promises.txt")
            self.must(*before, *CHECK)
            self.must(*before, "--check", "exit 125", status=3)
            self.must(*before, "--recover", "rm config", *CHECK, status=0 if not
                      (folder / "promises.txt").read_text() else 1)
            self.assertTrue(any((folder / "before").iterdir()))
        self.must("tornfs", "recheck", self.folder, status=2)
        self.must("tornfs", "recheck", self.folder / "none", *CHECK, status=2)

    def fixes(self, *workload, model="posix"):
        result = self.explore("--model", model, *CHECK, workload=workload)
        self.assertEqual(result.status, 1, str(result))
        return [finding["fence"] for finding in result.stats["findings"]]

    def test_fixes(self):
        for fence in self.fixes("save_config", "--no-file-sync", "2"):
            self.assertIsNotNone(fence)
            self.assertIn(fence["barrier"], ("fsync", "fdatasync"))
            self.assertEqual((fence["path"], fence["after_kind"]), ("config.tmp", "write"))
        for fence in self.fixes("save_config", "--no-directory-sync", "2"):
            self.assertEqual((fence["barrier"], fence["path"]), ("fsyncdir", ""))
        result = self.explore(*CHECK, workload=("save_config", "--no-directory-sync", "1"))
        finding = result.stats["findings"][0]
        stored = json.loads(self.read("out", "findings", finding["id"], "finding.json"))
        self.assertEqual(stored["fence"]["text"], "fsync the top directory after op 4 (rename)")
        self.assertIn(stored["fence"]["text"], self.read("out", "report.html").decode())
        self.assertGreater(stored["fence"]["states"], 0)


if __name__ == "__main__":
    tornfs.main()
