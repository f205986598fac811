#!/usr/bin/env python3
"""Wrong command lines, wrong places and damaged journals: one clear line, the documented status, and
nothing changed on refusal."""

import json
import os
import random
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

# Status, a part of the line, the command. Each is refused before anything is mounted.
USAGE = [
    ("no command", "tornfs"),
    ("'frobnicate'", "tornfs frobnicate"),
    ("missing argument MNT", "tornfs mount"),
    ("'--nonsense'", "tornfs mount --nonsense mnt"),
    ("'--mod'", "tornfs mount --mod posix mnt"),
    ("unknown model 'nosuch'", "tornfs mount --model nosuch mnt"),
    ("'lots'", "tornfs mount mnt --memory-limit lots"),
    ("missing: not a directory", "tornfs mount mnt --import missing"),
    ("missing: does not exist", "tornfs mount missing"),
    ("full: the directory is not empty", "tornfs mount full"),
    ("file: not a directory", "tornfs mount file"),
    ("needs a command behind '--'", "tornfs explore --check true"),
    ("missing: there is no such trace", "tornfs explore --from missing"),
    ("--shard takes I/N", "tornfs explore --check true --shard 3/2 -- true"),
    ("unknown model 'nosuch'", "tornfs explore --check true --model nosuch -- true"),
    ("unknown tearing 'nosuch'", "tornfs explore --check true --tear nosuch -- true"),
    ("not 'kill'", "tornfs explore --check true --faults kill -- true"),
    ("--depth", "tornfs explore --check true --depth 0 -- true"),
    ("'soon'", "tornfs explore --check true --budget soon -- true"),
    ("full holds other things", "tornfs explore --check true --out full -- true"),
    ("missing: not a directory", "tornfs explore --check true --import missing -- true"),
    ("unknown model 'nosuch'", "tornfs run --model nosuch -- true"),
    ("got 'bananas'", "tornfs run --crash-at bananas -- true"),
    ("'some'", "tornfs run --lose some --crash-at end -- true"),
    ("needs --crash-at", "tornfs run --lose none -- true"),
    ("needs a command behind '--'", "tornfs run"),
    ("--plan TOKEN", "tornfs replay"),
    ("'f-000000000000'", "tornfs replay f-000000000000"),
    ("'garbage'", "tornfs replay --plan garbage"),
    ("'f-000000000000'", "tornfs shrink f-000000000000"),
    ("give --check", "tornfs recheck full"),
    ("'pdf'", "tornfs report full --format pdf"),
    ("full holds no results", "tornfs report full"),
    ("missing argument DIR...", "tornfs merge out"),
    ("unknown model 'nosuch'", "tornfs models show nosuch"),
    ("a command is needed", "journal"),
    ("'frobnicate'", "journal frobnicate"),
    ("--dir is required", "journal append"),
    ("'--nonsense'", "journal append --dir j --nonsense"),
    ("'nosuch'", "journal append --dir j --without nosuch"),
    ("--group", "journal append --dir j --group 0"),
]

DATA = "prepares-0.wal"


class BadInput(tornfs.Case):
    def refused(self, status, part, *command):
        """The command ends with that status, and says why in one line that holds `part`."""
        result = self.must(*command, status=status)
        self.assertEqual(result.out, "", str(result))
        self.assertEqual(len(result.err.splitlines()), 1, str(result))
        self.assertIn(part, result.err)

    def test_command_lines(self):
        (self.folder / "mnt").mkdir()
        (self.folder / "full").mkdir()
        (self.folder / "full" / "x").touch()
        (self.folder / "file").touch()
        before = sorted(self.folder.rglob("*"))
        for part, command in USAGE:
            with self.subTest(command=command):
                self.refused(2, part, *command.split())
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_programs_that_cannot_run(self):
        self.refused(3, "could not be started", "tornfs", "explore", "--check", "true", "--", "nosuch")
        self.refused(3, "before the workload", "tornfs", "explore", "--check", "false", "--", "true")
        self.refused(3, "setup", "tornfs", "explore", "--check", "true", "--setup", "false", "--", "true")
        self.refused(127, "nosuch", "tornfs", "run", "--", "nosuch")
        self.refused(126, "Permission denied", "tornfs", "run", "--", "/etc/passwd")
        self.refused(125, "never came", "tornfs", "run", "--crash-at", "before op #5", "--", "true")
        self.refused(125, "'garbage'", "tornfs", "run", "--crash-at", "end", "--plan", "garbage", "--",
                     "true")

    def test_a_mount_that_is_there(self):
        point = self.mount()
        self.refused(2, "already mounted", "tornfs", "mount", point)
        self.refused(2, "'garbage'", "tornfs", "crash", point, "--plan", "garbage")
        self.refused(2, "unknown tearing", "tornfs", "crash", point, "--tear", "bits")
        self.refused(2, "'x'", "tornfs", "crash", point, "--seed", "x")
        self.refused(2, "'bananas'", "tornfs", "arm", point, "bananas")
        (self.folder / "full").mkdir()
        (self.folder / "full" / "x").touch()
        self.refused(2, "not empty", "tornfs", "export", point, self.folder / "full")
        # None of it did any harm.
        (point / "file").write_text("text")
        self.assertEqual((point / "file").read_text(), "text")
        self.umount(point)

    def test_no_daemon(self):
        point = self.folder / "mnt"
        point.mkdir()
        for command in ("status", "unsynced", "sync", "crash", "umount"):
            self.refused(3, "is it mounted?", "tornfs", command, point)

    def test_a_daemon_that_died(self):
        point = self.folder / "mnt"
        point.mkdir()
        for remove in ("umount", "mount"):
            with self.subTest(removed_by=remove):
                daemon = json.loads(self.must("tornfs", "mount", "--json", point).out)["pid"]
                # The kernel remembers the attributes of the root longer than the daemon lives.
                os.stat(point)
                os.kill(daemon, signal.SIGKILL)
                self.assertTrue(tornfs.await_exit(daemon, 20))
                for command in ("status", "unsynced", "crash"):
                    self.refused(3, "is gone", "tornfs", command, point)
                self.must("tornfs", remove, point)
                if remove == "mount":
                    (point / "file").write_text("text")
                    self.umount(point)
                self.assertNotIn(str(point), tornfs.mounts())

    def test_damaged_journals(self):
        acks = self.must("journal", "append", "--dir", "j", "--group", "4", input=tornfs.records(12)).out
        (self.folder / "acks").write_text(acks)
        sound = self.contents("j")
        rng = random.Random(1)
        for name in ("frontier", DATA):
            whole = len(sound[name])
            for length in [*range(0, 12288 + 1, 512), whole - 1, whole + 1]:
                cut = sound[name][:length] + bytes(max(0, length - whole))
                for kind, content in (("cut", cut), ("garbage", rng.randbytes(length))):
                    with self.subTest(file=name, length=length, kind=kind):
                        self.try_damaged(sound | {name: content}, intact=content == sound[name])

    def contents(self, name):
        return {entry.name: entry.read_bytes() for entry in (self.folder / name).iterdir()}

    def try_damaged(self, files, intact):
        for command in ("verify", "recover", "append"):
            target = self.folder / "damaged"
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir()
            for name, content in files.items():
                (target / name).write_bytes(content)
            more = ["--promises", "acks"] if command == "verify" else []
            result = self.run_program("journal", command, "--dir", "damaged", *more, input="more\n")
            self.assertIn(result.status, (0, 1), str(result))
            if result.status == 1:
                self.assertFalse(intact, str(result))
                said = result.out + result.err
                self.assertEqual(len(said.splitlines()), 1, str(result))
                self.assertEqual(self.contents("damaged"), files, f"{result}\nchanged although refused")
            else:
                # Nothing that was acknowledged may be missing from what was accepted.
                self.must("journal", "verify", "--dir", "damaged", "--promises", "acks")


if __name__ == "__main__":
    tornfs.main()
