"""The same calls on a mount and on a native directory: result, errno, attributes and side effects.

The table is in rows/: each row is a call in a precondition. A row runs in a folder of its own and in a
process of its own, once on each side; what came of it is compared. What may differ, and why, is in
differences.py and in docs/conformance.md.

    conformance_test.py                     everything, on `tornfs mount` and on ext4
    conformance_test.py --count             how many rows of how many calls there are
    conformance_test.py --rows PATTERN      rows whose name matches
    conformance_test.py --modules NAME...   rows of these files of rows/
    conformance_test.py --on DIR DIR        on two directories, the first of them native
"""

import argparse
import multiprocessing
import os
import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "support")]

import differences
import run
import tornfs
import rows
from rows import ROWS

WORKERS = 3
# Room for the inodes of rows/limits.py; only what is used takes space.
NATIVE_BYTES = 4 << 30


def _both(task):
    number, sides = task
    row = ROWS[number]
    outcomes = [run.run(row, os.path.join(side, f"row{number:05}")) for side in sides]
    return number, run.differences(row, *outcomes)


def compare(numbers, native, mounted):
    """Runs the rows of these numbers in both directories, several at once. Returns the lines that tell
    what differs and may not."""
    failures, excused = [], {}
    with multiprocessing.Pool(WORKERS) as pool:
        for number, lines in pool.imap(_both, [(number, (native, mounted)) for number in numbers], chunksize=4):
            row = ROWS[number]
            for line in lines:
                reason = differences.reason(row.name, line)
                if reason is None:
                    failures.append(f"{row.name}\n    {row.call}\n    {line}")
                    print(failures[-1], flush=True)
                else:
                    excused.setdefault(reason, set()).add(row.name)
    for reason, names in sorted(excused.items()):
        print(f"{len(names):5} rows differ as they may: {reason}")
    return failures


def calls_of(rows):
    return {row.group for row in rows}


class Conformance(tornfs.Case):
    numbers = range(len(ROWS))

    def test_every_row(self):
        if os.geteuid() != 0:
            self.skipTest("needs root: rows are of several users")
        os.chmod(self.folder, 0o755)
        native, mounted = self.native(NATIVE_BYTES), self.mount("--allow-other")
        failures = compare(self.numbers, native, mounted)
        chosen = [ROWS[number] for number in self.numbers]
        print(f"{len(chosen)} rows of {len(calls_of(chosen))} calls, {len(failures)} differences")
        self.assertEqual(failures, [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--rows", default="")
    parser.add_argument("--modules", nargs="*", default=[])
    parser.add_argument("--on", nargs=2, metavar="DIR")
    options, rest = parser.parse_known_args()
    wanted = [module for module in rows.MODULES
              if not options.modules or module.__name__.split(".")[-1] in options.modules]
    chosen = [row for module in wanted for row in module.ROWS if re.search(options.rows, row.name)]
    if options.count:
        print(f"{len(chosen)} rows of {len(calls_of(chosen))} calls")
        return
    if options.on:
        failures = compare([ROWS.index(row) for row in chosen], *options.on)
        print(f"{len(chosen)} rows, {len(failures)} differences")
        sys.exit(1 if failures else 0)
    sys.argv[1:] = rest
    Conformance.numbers = [ROWS.index(row) for row in chosen]
    tornfs.main()


if __name__ == "__main__":
    main()
