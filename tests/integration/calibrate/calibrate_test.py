#!/usr/bin/env python3
"""`tornfs calibrate` on ext4: what it sees, what it says of a wrong model, and that nothing is left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

# A new file, not synced: ext4 is known to leave it absent, empty, zeroed and whole.
NEW_FILE = """# A new file, renamed.
run
  create t
  write t n*10000
  close t
  rename t f
"""
# ext4 with one rule that promises more than it keeps: sizes and data have no place among the calls.
TOO_STRICT = """model: mine
about: ext4 with a mistake
like: ext4

order = calls [heuristic]
    A mistake.
"""
# The sync makes it durable, name and all.
SYNCED = """run
  create f
  write f n*5000
  fsync f
"""


def loop_files():
    """What the loop devices of this machine are put on."""
    files = []
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            files.append(path.read_text().strip())
        except OSError:
            pass  # It was freed meanwhile.
    return files


class Calibrate(tornfs.Case):
    def setUp(self):
        super().setUp()
        self.need("mkfs.ext4")
        # Its own folders are made here, so that its loop devices can be told from those of others.
        self.environment["TMPDIR"] = str(self.folder)
        for name, text in (("new-file", NEW_FILE), ("synced", SYNCED)):
            (self.folder / f"{name}.litmus").write_text(text)

    def calibrate(self, *options, programs=("new-file",), status=0):
        files = [word for name in programs for word in ("--programs", f"{name}.litmus")]
        return self.must("tornfs", "calibrate", "--fs", "ext4", "--schedules", "SF", "--jobs", 2,
                         *files, *options, status=status)

    def assert_nothing_left(self):
        self.assertEqual(self.leftovers(), [])
        left = [name for name in loop_files() if name.startswith(str(self.folder))]
        self.assertEqual(left, [], "loop devices")

    def test_sees_what_ext4_leaves(self):
        result = self.calibrate("--json", programs=("new-file", "synced"))
        found = json.loads(result.out)
        self.assertEqual(found["escapes"], [])
        self.assertGreater(found["images"], 20)
        programs = {one["name"]: one for one in found["filesystems"][0]["programs"]}
        seen = {one["tree"]: one["at_end"] for one in programs["new-file"]["seen"]}
        self.assertIn("{}", seen)
        self.assertIn("{f=F[n*10000]}", seen)
        self.assertTrue({"{f=F[]}", "{f=F[0*10000]}"} & set(seen), "never without its data")
        at_end = [one["tree"] for one in programs["synced"]["seen"] if one["at_end"]]
        self.assertEqual(at_end, ["{f=F[n*5000]}"])
        self.assert_nothing_left()

    def test_a_wrong_model_is_caught_and_the_escape_can_be_replayed(self):
        result = self.calibrate("--json", "--model", "strict", status=1)
        escapes = json.loads(result.out)["escapes"]
        self.assertTrue(escapes)
        for escape in escapes:
            self.assertTrue(escape["reproduced"], escape)
            self.assertIn("model strict does not allow", escape["sentence"])
        folder = self.folder / "tornfs-calibrate" / "escapes" / escapes[0]["id"]
        record = json.loads((folder / "escape.json").read_text())
        again = self.must("tornfs", "calibrate", "--replay", folder, status=1)
        self.assertIn(f"now: {record['tree']}", again.out)
        self.assert_nothing_left()

    def test_one_rule_too_strict_in_a_model_of_the_user_is_caught(self):
        (self.folder / "mine.model").write_text(TOO_STRICT)
        result = self.calibrate("--json", "--model", "mine.model", status=1)
        sentences = [escape["sentence"] for escape in json.loads(result.out)["escapes"]]
        self.assertTrue(sentences)
        for sentence in sentences:
            self.assertIn("model mine.model does not allow", sentence)
        self.assert_nothing_left()

    def test_interrupted_it_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(
                "tornfs", "calibrate", "--fs", "ext4", "--model", "strict", "--images", "100000",
                "--programs", "new-file.litmus", stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL, text=True)
            # Workers are at it when the first escape is told of.
            for line in process.stderr:
                if "escape" in line:
                    break
            os.killpg(process.pid, number)
            process.stderr.read()
            self.assertIn(process.wait(timeout=120), (1, 3))
            self.assert_nothing_left()

    def test_mistakes_are_usage(self):
        for options in (("--fs", "ntfs"), ("--schedules", "X"), ("--jobs", "0"),
                        ("--programs", "missing.litmus"), ("--model", "none")):
            result = self.run_program("tornfs", "calibrate", *options)
            self.assertEqual(result.status, 2, str(result))
            self.assertEqual(result.err.count("\n"), 1, str(result))


if __name__ == "__main__":
    tornfs.main()
