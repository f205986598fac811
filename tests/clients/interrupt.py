#!/usr/bin/env python3
"""Ctrl-C, SIGTERM and SIGKILL at random moments of `tornfs explore`, `tornfs run` and the daemon of a
mount: no process, no mount and no control group is left, and the next start works.

A moment is a number of lines that the programs under test have printed, not a time.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
MOMENTS = 10 if tornfs.full() else 3

# Writes, syncs and tells, for ever.
WORK = "n=0; while :; do n=$((n+1)); echo $n >> log; sync log; echo line $n; done"


def read_lines(stream, count):
    """Waits for so many lines; fewer come only at the end of the stream."""
    for _ in range(count):
        if not stream.readline():
            break


class Interrupt(tornfs.Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(7)
        # Not below /tmp: a check in its sandbox has one of its own.
        outside = Path(tempfile.mkdtemp(prefix="tornfs-test-", dir="/var/tmp"))
        self.told = outside / "told"
        os.mkfifo(self.told)
        self.addCleanup(outside.rmdir)
        self.addCleanup(self.told.unlink)

    def send(self, process, number):
        """Ctrl-C reaches the whole group, the others one process."""
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            os.kill(process.pid, number)

    def moments(self, most):
        """Signals, each with numbers of lines up to `most`."""
        for number in SIGNALS:
            for _ in range(MOMENTS):
                lines = self.random.randint(1, most)
                self.moment = f"{number.name} after {lines} lines"
                yield number, lines

    def assert_nothing_left(self):
        self.assertEqual(self.leftovers(), [], self.moment)

    def start_explore(self):
        return self.start(
            "tornfs", "explore", "--out", self.folder / "out", "--faults", "kill,power", "--tear", "sector",
            "--depth", "2",
            "--recover", "journal recover --dir j",
            "--check", f"echo checked > {self.told}; exec journal verify --dir j --promises {{promises}}",
            "--", "journal", "append", "--dir", "j", "--group", "2",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def interrupt_explore(self, number, lines):
        """Its status and what it said."""
        process = self.start_explore()
        # Open for writing too, so that it does not end while there is no check.
        with os.fdopen(os.open(self.told, os.O_RDWR), encoding="ascii") as told:
            process.stdin.write(tornfs.records(200))
            process.stdin.close()
            read_lines(told, lines)
            self.send(process, number)
            out = process.stdout.read()
        return process.wait(timeout=60), f"{self.moment}\n{out}"

    def test_explore(self):
        for number, lines in self.moments(120):
            # The first two checks are those of the states without a crash.
            status, out = self.interrupt_explore(number, 2 + lines)
            expected = -number if number == signal.SIGKILL else 3
            self.assertEqual(status, expected, out)
            if number != signal.SIGKILL:
                self.assertIn("inconclusive", out)
            self.assert_nothing_left()
        self.assert_clean(self.explore("--check", "true", workload=["sh", "-c", "echo text > file"]))

    def test_explore_before_it_explores(self):
        for number in SIGNALS:
            self.moment = f"{number.name} at the first check"
            status, out = self.interrupt_explore(number, 1)
            self.assertIn(status, (3, -number), out)
            self.assert_nothing_left()

    def test_run(self):
        for number, lines in self.moments(200):
            process = self.start("tornfs", "run", "--", "sh", "-c", WORK, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
            read_lines(process.stdout, lines)
            self.send(process, number)
            process.stdout.close()
            error = process.stderr.read()
            status = process.wait(timeout=60)
            expected = -number if number == signal.SIGKILL else 128 + number
            self.assertEqual(status, expected, f"{self.moment}\n{error}")
            self.assert_nothing_left()
        self.assertEqual(self.must("tornfs", "run", "--", "echo", "works").out, "works\n")

    def test_mount(self):
        point = self.folder / "mnt"
        point.mkdir()
        for number, lines in self.moments(200):
            daemon = json.loads(self.must("tornfs", "mount", "--json", point).out)["pid"]
            worker = self.start("sh", "-c", WORK, cwd=point, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
            read_lines(worker.stdout, lines)
            os.kill(daemon, number)
            self.assertTrue(tornfs.await_exit(daemon, 60), self.moment)
            # What the worker does now fails; only the test ends it.
            os.killpg(worker.pid, signal.SIGKILL)
            worker.stdout.close()
            worker.wait(timeout=60)
            if number == signal.SIGKILL:
                # Nobody was left to unmount; the next command does.
                self.assertEqual(tornfs.mounts().count(str(point)), 1)
                self.must("tornfs", "mount", point)
                (point / "file").write_text("text")
                self.assertEqual(tornfs.mounts().count(str(point)), 1)
                self.must("tornfs", "umount", point)
            self.assert_nothing_left()
        self.umount(self.mount())


if __name__ == "__main__":
    tornfs.main()
