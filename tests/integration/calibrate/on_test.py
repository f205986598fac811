#!/usr/bin/env python3
"""`tornfs explore --on`: programs on a real ext4 that loses the power of its device."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

CHECK = ("--check", "save_config check {promises}")
NOBODY = 65534


class On(tornfs.Case):
    def setUp(self):
        super().setUp()
        # Where Debian has them; a user's PATH may lack it.
        self.environment["PATH"] += ":/usr/sbin:/sbin"
        self.need("mkfs.ext4")

    def on(self, filesystem, *options, workload, images=150, **more):
        return self.explore("--on", filesystem, "--images", images, *options, workload=workload, **more)

    def test_a_rename_over_a_good_file_is_found(self):
        result = self.on("ext4,noauto_da_alloc", *CHECK,
                         workload=("save_config", "--no-file-sync", "--no-directory-sync", "3"))
        findings = self.assert_found(result)
        self.assertEqual(self.leftovers(), [])
        for finding in findings:
            self.assertIn("on ext4-noauto the power was cut", finding["sentence"])
            self.assertEqual(finding["reproduced"], finding["again"])
            folder = self.folder / "out" / "findings" / finding["id"]
            self.assertIn("---- power lost", (folder / "timeline.txt").read_text())
            self.assertEqual(os.listdir(folder / "before"), ["config"])
            self.assertTrue((folder / "after").is_dir())
            # The tree alone shows it, without tornfs.
            self.assertNotIn(self.run_program("sh", folder / "repro.sh").status, (0, 125))
        self.assertIn(findings[0]["id"], (self.folder / "out" / "report.html").read_text())
        self.must("tornfs", "replay", findings[0]["id"], "--out", "out", "--image", "disk", status=1)
        with open(self.folder / "disk", "rb") as disk:
            disk.seek(1024 + 56)
            self.assertEqual(disk.read(2), b"\x53\xef", "no ext4")
        self.assertEqual(self.leftovers(), [])

    def test_a_program_that_syncs_is_clean(self):
        result = self.on("ext4,noauto_da_alloc", *CHECK, images=200, workload=("save_config", "3"))
        self.assert_clean(result)
        self.assertEqual(result.stats["images_tried"], result.stats["images"])
        self.assertIn("sampled", result.stats["coverage"])

    def test_a_promise_before_the_sync_is_found(self):
        result = self.on("ext4", *CHECK, workload=("save_config", "--ack-before-sync", "3"))
        self.assert_found(result)

    def test_the_journal_keeps_what_it_promised(self):
        (self.folder / "records").write_text(tornfs.records(40))
        with open(self.folder / "records") as records:
            result = self.on("ext4", "--recover", "journal recover --dir j", "--check",
                             "journal verify --dir j --promises {promises}", input=records,
                             workload=("journal", "append", "--dir", "j", "--group", "7"))
        self.assert_clean(result)
        self.assertEqual(result.stats["on"]["promises"], "160", "not 40 under each schedule")

    def test_where_it_starts_and_what_it_reads(self):
        (self.folder / "start").mkdir()
        (self.folder / "start" / "old").write_text("old\n")
        check = "test -f old && test -f made && head -c 100 {promises} >/dev/null"
        result = self.on("ext4", "--schedules", "SF", "--import", "start", "--setup", "cp old made",
                         "--check", check, images=20, workload=("cat",), input="one\ntwo\nthree")
        self.assert_clean(result)
        self.assertEqual(result.stats["on"]["promises"], "4", "whole lines, in both recordings")

    def test_a_check_that_fails_without_a_crash_is_inconclusive(self):
        result = self.run_program("tornfs", "explore", "--on", "ext4", "--check", "false", "--", "true")
        self.assertEqual(result.status, 3, str(result))
        self.assertIn("the state before the workload fails", result.err)

    def test_interrupted_it_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("tornfs", "explore", "--on", "ext4", "--out", "out", "--timeout", "1000s",
                                 "--check", "test ! -e stay || sleep 1000", "--", "sh", "-c",
                                 "touch stay; sync stay; rm stay; sync .", stdin=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            # Workers are at it, and hang where the file is still there.
            for line in process.stderr:
                if "exploring" in line:
                    break
            os.killpg(process.pid, number)
            process.stderr.read()
            self.assertEqual(process.wait(timeout=120), 3)
            self.assertEqual(self.leftovers(), [])

    def test_mistakes_are_usage(self):
        on = ("--on", "ext4", "--check", "true")
        for options in (("--on", "ntfs", "--check", "true"), ("--on", "ext4"), (*on, "--model", "ext4"),
                        (*on, "--faults", "kill,power"), (*on, "--depth", "2"), (*on, "--tear", "page"),
                        (*on, "--strategy", "lazy"), (*on, "--shard", "1/2"), (*on, "--schedules", "I"),
                        (*on, "--images", "0"), ("--schedules", "S"), ("--images", "7")):
            result = self.run_program("tornfs", "explore", *options, "--", "true")
            self.assertEqual(result.status, 2, str(result))
            self.assertEqual(result.err.count("\n"), 1, str(result))

    def test_without_root_it_says_so(self):
        if os.geteuid() != 0:
            self.skipTest("is not root")
        # The build may lie below a private folder.
        program = shutil.copy(shutil.which("tornfs", path=self.environment["PATH"]), self.folder)
        self.folder.chmod(0o755)
        process = self.start(program, "explore", "--on", "ext4", "--check", "true", "--", "true", cwd="/",
                             user=NOBODY, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.communicate(timeout=60)[1],
                         "tornfs explore: only root can mount filesystems\n")
        self.assertEqual(process.returncode, tornfs.SKIPPED)


if __name__ == "__main__":
    tornfs.main()
