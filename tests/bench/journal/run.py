#!/usr/bin/env python3
"""run.py BIN FOLDER: acknowledgments per second of the journal and of others, on the disk
that FOLDER is on. All take turns in every round, each time in another order, so that what disturbs one disturbs
all; the table has medians, "journal is" the median of what was measured in one round. Many short rounds say more
than few long ones. Build first: cmake --build --preset release --target journal bench_stores"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

GROUPS = (1, 16, 64, 256)
# Bytes of a record as its owner sees it. The journal puts a header of 256 bytes before them: 3,744 make a
# prepare of 4,000 bytes, which fits a block of 4,096, and 4,000 take two.
SIZES = (4000, 3744, 100)
STORES = ("sqlite", "leveldb", "rocksdb")


def contenders(programs, folder, size, group, records):
    common = ("--dir", folder / "j", "--records", records, "--size", size, "--group", group, "--json")
    yield "journal", (programs / "journal", "bench", *common)
    yield "rename", (programs / "journal", "bench", *common, "--protocol", "rename")
    for store in STORES:
        yield store, (programs / "bench_stores", store, folder, records, size, group)


def measure(command, folder):
    """The figures, or None where this machine lacks the store."""
    folder.mkdir()
    try:
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    finally:
        shutil.rmtree(folder)
    if result.returncode == 77:
        return None
    if result.returncode != 0:
        sys.exit(f"{command}: {result.stderr}")
    return json.loads(result.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--groups-per-run", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--groups", type=int, nargs="+", default=GROUPS)
    options = parser.parse_args()
    folder = options.folder / "bench-run"
    missing = set()
    print("| size | group | store | acks/s | p50 us | p99 us | journal is | bytes/ack | barriers/ack |")
    print("|---|---|---|---|---|---|---|---|---|")
    for size in options.sizes:
        for group in options.groups:
            runs = {}
            records = group * options.groups_per_run
            everyone = list(contenders(options.bin, folder, size, group, records))
            for turn in range(options.rounds):
                first = turn % len(everyone)
                for name, command in everyone[first:] + everyone[:first]:
                    figures = measure(command, folder)
                    if figures is None:
                        missing.add(name)
                    else:
                        runs.setdefault(name, []).append(figures)
            for name in [name for name, _ in everyone if name in runs]:
                figures = runs[name]
                ratio = statistics.median(ours["acks_per_second"] / other["acks_per_second"]
                                          for ours, other in zip(runs["journal"], figures))
                median = {key: statistics.median(run[key] for run in figures) for key in figures[0]}
                cost = (f"{median['bytes_per_ack']:.0f} | {median['barriers_per_ack']:.3f}"
                        if "bytes_per_ack" in median else " | ")
                print(f"| {size} | {group} | {name} | {median['acks_per_second']:.0f} | {median['p50_us']:.0f} "
                      f"| {median['p99_us']:.0f} | {ratio:.2f} x | {cost} |", flush=True)
    for name in sorted(missing):
        print(f"skipped: {name} is not built in; its Debian package was not there at build time")


if __name__ == "__main__":
    main()
