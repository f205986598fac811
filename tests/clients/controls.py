#!/usr/bin/env python3
"""Negative controls: small programs with one well-known mistake are found, the same programs without
it are not, and a model that forgives the mistake does not find it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

KEEP = Path(__file__).resolve().parent / "programs" / "keep.py"
COUNT = 4


class Controls(tornfs.Case):
    def explore_keep(self, way, *mistake, model="posix"):
        python = f"{sys.executable} -S -E -B"
        result = self.explore(
            "--model", model, "--faults", "kill,power",
            "--check", f"{python} {KEEP} check {{promises}}",
            workload=[*python.split(), KEEP, way, *mistake, COUNT])
        self.assertEqual(result.stats["promises"], COUNT)
        return result

    def find(self, way, mistake, path, kind):
        findings = self.assert_found(self.explore_keep(way, mistake))
        causes = [(loss["path"], loss["kind"]) for finding in findings for loss in finding["losses"]]
        self.assertIn((path, kind), causes)
        self.assertTrue(any(f"`{path}" in finding["sentence"] for finding in findings))

    def test_done_right(self):
        for way in ("append", "replace"):
            with self.subTest(way=way):
                self.assert_clean(self.explore_keep(way))

    def test_acknowledged_without_a_sync(self):
        self.find("append", "--no-sync", "log", "write")

    def test_a_new_file_whose_directory_is_not_synced(self):
        self.find("append", "--no-directory-sync", "log", "create")

    def test_an_unsynced_file_renamed_over_a_good_one(self):
        self.find("replace", "--no-sync", "value.new", "write")

    def test_a_rename_whose_directory_is_not_synced(self):
        self.find("replace", "--no-directory-sync", "value.new", "rename")

    def test_lazyfs_takes_names_for_durable(self):
        for way in ("append", "replace"):
            with self.subTest(way=way):
                self.assert_clean(self.explore_keep(way, "--no-directory-sync", model="lazyfs"))
        # And is not blind: what was never synced is lost there too.
        self.assertEqual(self.explore_keep("append", "--no-sync", model="lazyfs").status, 1)


if __name__ == "__main__":
    tornfs.main()
