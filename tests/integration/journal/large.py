#!/usr/bin/env python3
"""A journal of 4 GiB, the most that the format allows: it opens in bounded memory and says how far it is.
Once in records of a MiB, once in a million records of one block each."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

CAPACITY = ("--capacity", "4GiB")
STEP = 64  # MiB between two lines of progress.
# Records, bytes and records per group; what the open may take, in MiB. The journal keeps about a hundred
# bytes of each record that it retains, and `recover` a line.
LAYOUTS = {
    "large records": (4072, 1 << 20, 8, 64),
    "small records": (1_040_000, 3744, 256, 256),
}


class Large(tornfs.Case):
    def measured(self, *command):
        """Runs it to its end: status, lines on standard error, MiB resident at most. Its standard output is
        thrown away."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with process.stderr:
            lines = process.stderr.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, lines, usage.ru_maxrss // 1024

    def test_four_gib_open_in_bounded_memory(self):
        journal = shutil.which("journal", path=self.environment["PATH"])
        for name, (records, size, group, limit) in LAYOUTS.items():
            with self.subTest(layout=name):
                folder = self.folder / name.replace(" ", "-")
                self.must("journal", "bench", "--dir", folder, "--records", records, "--size", size,
                          "--group", group, *CAPACITY, timeout=3600)
                length = (folder / "prepares-0.wal").stat().st_size
                self.assertGreater(length, 3.9 * 2**30)
                for command in ("recover", "verify"):
                    status, lines, resident = self.measured(journal, command, "--dir", folder)
                    print(f"{name}, {command}: {resident} MiB resident, {len(lines)} lines of progress", flush=True)
                    self.assertEqual(status, 0, lines)
                    self.assertLess(resident, limit)
                    if command == "recover":
                        self.assertGreaterEqual(len(lines), length // (STEP << 20) - 1)
                        self.assertTrue(all(line.startswith("journal: read ") for line in lines), lines[:3])


if __name__ == "__main__":
    tornfs.main()
