#!/usr/bin/env python3
"""Explorations with neither a check nor a recovery: the right verdict for everyday programs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

TEXT = "".join(f"line {number}\n" for number in range(3000))
# A model in which fsync of a new file keeps its name, and one in which data goes through the journal
# and so is there before a rename that follows.
FORGIVING = "ext4"
REPLACES_WHOLE = "ext4-journal"
NAIVE = """
with open("config", "w") as file:
    file.write("new " * 2000)
"""
# Unlinks the old file, then gives the synced new one its name.
GAP = """
import os
fd = os.open("config.new", os.O_WRONLY | os.O_CREAT)
os.write(fd, b"new " * 2000)
os.fsync(fd)
os.unlink("config")
os.rename("config.new", "config")
"""
APPEND = """
import os
fd = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in range(3):
    os.write(fd, b"entry\\n" * 300)
    print("logged", number, flush=True)
"""
UNNAMED = """
import os
fd = os.open("result", os.O_WRONLY | os.O_CREAT)
os.write(fd, b"result\\n")
os.fsync(fd)
"""
PROGRESS = """
for name in ("a", "b", "c"):
    print("writing", name, flush=True)
    with open(name, "w") as file:
        file.write(name * 5000)
"""


class ZeroEffort(tornfs.Case):
    def setUp(self):
        super().setUp()
        self.start_folder = self.folder / "start"
        self.start_folder.mkdir()
        self.environment |= {"HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}

    def judge(self, *workload, model="posix", status=None):
        statuses = (0, 1) if status is None else (status,)
        result = self.explore("--import", self.start_folder, "--model", model, workload=workload,
                              statuses=statuses)
        self.assertEqual(result.stats["lazy"]["crash_points_not_counted"], 0)
        self.assertIn("complete", result.stats["coverage"])
        return result

    def rules(self, result):
        found = self.assert_found(result, times=2)
        for finding in found:
            self.assertEqual(finding["phase"], "oracle")
            folder = self.folder / "out" / "findings" / finding["id"]
            self.must("sh", folder / "repro.sh", status=1)
        return {finding["title"].partition(",")[0] for finding in found}

    def python(self, text):
        return [sys.executable, "-S", "-E", "-B", "-c", text]

    def test_gzip(self):
        self.need("gzip")
        (self.start_folder / "data").write_text(TEXT)
        for model in ("posix", FORGIVING):
            with self.subTest(model=model):
                found = self.rules(self.judge("gzip", "data", model=model))
                self.assertIn("removed-unsynced: data.gz is empty", found)
        self.assert_clean(self.judge("gzip", "--synchronous", "data"))

    def test_gunzip(self):
        self.need("gzip")
        (self.start_folder / "data").write_text(TEXT)
        self.must("gzip", self.start_folder / "data")
        found = self.rules(self.judge("gunzip", "data.gz"))
        self.assertTrue(any(rule.startswith("removed-unsynced: data ") for rule in found), found)

    def test_xz(self):
        self.need("xz")
        (self.start_folder / "data").write_text(TEXT)
        found = self.rules(self.judge("xz", "data"))
        self.assertIn("removed-unsynced: data.xz is empty", found)
        self.assertEqual(self.judge("xz", "--keep", "data", status=3).stats["findings"], [])

    def test_sed_in_place(self):
        self.need("sed")
        (self.start_folder / "data").write_text(TEXT)
        workload = ("sed", "-i", "s/line/row/", "data")
        self.assertEqual(self.rules(self.judge(*workload)),
                         {"renamed-unsynced: data is empty",
                          "renamed-unsynced: data does not hold what it should"})
        self.assert_clean(self.judge(*workload, model=REPLACES_WHOLE))

    def test_git_commit(self):
        self.need("git")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"]
        self.must("git", "init", "-q", "-b", "main", self.start_folder)
        (self.start_folder / "file").write_text(TEXT)
        self.must(*git, "-C", self.start_folder, "add", ".")
        found = self.rules(self.judge(*git, "commit", "-m", "first"))
        self.assertTrue(any(rule.startswith("renamed-unsynced: .git/objects/") for rule in found), found)
        synced = self.judge(*git, "-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync",
                            "commit", "-q", "-m", "first")
        self.assertFalse(any("renamed-unsynced: .git/objects/" in finding["title"]
                             for finding in synced.stats["findings"]))

    def test_naive_config_writer(self):
        (self.start_folder / "config").write_text("old " * 2000)
        for model in ("posix", FORGIVING, "strict"):
            with self.subTest(model=model):
                found = self.rules(self.judge(*self.python(NAIVE), model=model))
                self.assertIn("rewritten-in-place: config is empty", found)

    def test_removed_before_the_new_one_has_its_name(self):
        (self.start_folder / "config").write_text("old " * 2000)
        found = self.rules(self.judge(*self.python(GAP)))
        self.assertIn("removed-unsynced: config is missing", found)

    def test_save_config(self):
        self.assert_clean(self.judge("save_config", "3"))
        found = self.rules(self.judge("save_config", "--no-file-sync", "2"))
        self.assertEqual(found, {"renamed-unsynced: config is empty",
                                 "renamed-unsynced: config does not hold what it should"})
        found = self.rules(self.judge("save_config", "--ack-before-sync", "2"))
        self.assertTrue(any(rule.startswith("promised-unsynced") for rule in found), found)
        found = self.rules(self.judge("save_config", "--no-directory-sync", "2"))
        self.assertTrue(any(rule.startswith("promised-unnamed") for rule in found), found)

    def test_append_log(self):
        self.assert_clean(self.judge("append_log", "4"))
        for mistake in ("--no-sync", "--ack-before-sync", "--no-directory-sync"):
            with self.subTest(mistake=mistake):
                found = self.rules(self.judge("append_log", mistake, "2"))
                self.assertTrue(all(rule.startswith("promised-un") for rule in found), found)

    def test_lines_without_any_sync(self):
        found = self.rules(self.judge(*self.python(APPEND)))
        self.assertTrue(all(rule.startswith("promised-unsynced: log") for rule in found), found)

    def test_a_synced_file_without_a_name(self):
        found = self.rules(self.judge(*self.python(UNNAMED)))
        self.assertEqual(found, {"synced-unnamed: result is missing"})
        forgiving = self.judge(*self.python(UNNAMED), model=FORGIVING)
        self.assert_clean(forgiving)
        self.assertEqual(forgiving.stats["oracle"], {"claims": [], "settled": 1, "takes_promises": False})

    def test_progress_is_no_promise(self):
        result = self.judge(*self.python(PROGRESS), status=3)
        self.assertFalse(result.stats["oracle"]["takes_promises"])
        self.assertIn("nothing to judge", result.stats["verdict"])

    def test_a_database_and_a_log_are_left_to_a_check(self):
        self.need("sqlite3")
        script = self.folder / "rows.sql"
        script.write_text("create table t(x); insert into t values(1); insert into t values(2);")
        with script.open() as file:
            result = self.explore("--import", self.start_folder, workload=("sqlite3", "db"),
                                  input=file, statuses=(0, 3))
        self.assertEqual(result.stats["findings"], [])

    def test_strategies_agree(self):
        (self.start_folder / "data").write_text("old\n" * 10)
        workload = ("sed", "-i", "s/old/new/", "data")
        lazy = self.judge(*workload)
        titles = {finding["title"] for finding in lazy.stats["findings"]}
        whole = self.explore("--import", self.start_folder, "--strategy", "systematic",
                             workload=workload)
        self.assertEqual({finding["title"] for finding in whole.stats["findings"]}, titles)
        self.assertEqual(whole.stats["failing_states"], lazy.stats["failing_states"])


if __name__ == "__main__":
    tornfs.main()
