#!/usr/bin/env python3
"""coverage.py [--seconds N] [--build FOLDER]: how much of each decoder of the journal its fuzzer runs.

Builds fuzz_journal with gcov's counters, gives each decoder N seconds of mutated input, and prints the
lines run of the functions that decode. Exit status 1 when a decoder is below 90 %."""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
LEAST = 90.0  # Percent.

# What decodes, by source file of journal/: functions as gcov names them, without namespaces, and the
# targets of fuzz_journal that are to reach them.
DECODERS = {
    "slot": ("slot.cc", ("slot",),
             ("DecodeSlot", "MagicIsAt", "FlagsAreBits", "DecodeSegments", "BoundsHold", "SlotFaultText")),
    "record": ("record.cc", ("record", "reference-record"), ("RecordReader::", "DescribePrepare")),
    "prepare": ("prepare.cc", ("prepare",),
                ("DecodePrepare", "ReadPrepareHeader", "ReservedIsZero", "HighHalvesAreZero")),
    "batch": ("batch.cc", ("batch",), ("DecodeBatch", "Checksum")),
    "reference": ("segment.cc", ("reference",),
                  ("DecodeReference", "IsValid(tornfs::journal::SegmentReference", "ParseRetainedName",
                   "TakeNumber")),
    "segment state": ("segment.cc", ("segments",),
                      ("DecodeSegmentState", "DecodeCursor", "IsValid(tornfs::journal::SegmentState",
                       "IsValid(tornfs::journal::SegmentCursor")),
    "index": ("index.cc", ("index",), ("DecodeIndex", "IndexContradiction")),
    "promises": ("promises.cc", ("promises",), ("ParsePromises", "ParsePromise", "ParseAll", "ApplyLine",
                                                "IsLowerHex")),
}


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def build(folder):
    run("cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS=--coverage -O0", stdout=subprocess.DEVNULL)
    run("cmake", "--build", folder, "--target", "fuzz_journal", stdout=subprocess.DEVNULL)


def short(name):
    """A function without its namespaces."""
    return name.replace("(anonymous namespace)::", "").removeprefix("tornfs::journal::")


def lines_of(folder, source, functions):
    """Of the lines of these functions: number, and how often each ran."""
    counters = folder / "journal/CMakeFiles/tornfs_journal.dir" / f"{source}.gcda"
    report = json.loads(run("gcov", "--json-format", "--stdout", counters, capture_output=True,
                            cwd=folder).stdout)
    counts = {}
    for file in report["files"]:
        if not file["file"].endswith(f"journal/{source}"):
            continue
        wanted = {function["name"] for function in file["functions"]
                  if short(function["demangled_name"]).startswith(functions)}
        for line in file["lines"]:
            if line.get("function_name") in wanted:
                number = line["line_number"]
                counts[number] = max(counts.get(number, 0), line["count"])
    return counts


def measure(folder, seconds):
    """Prints a row for each decoder; the names of those below the least."""
    low = []
    print("| decoder | lines | run | not run |")
    print("|---|---|---|---|")
    for name, (source, targets, functions) in DECODERS.items():
        for counters in folder.rglob("*.gcda"):
            counters.unlink()
        for target in targets:
            run(folder / "bin/fuzz_journal", target, seconds, stdout=subprocess.DEVNULL)
        counts = lines_of(folder, source, functions)
        missed = sorted(number for number, count in counts.items() if count == 0)
        percent = 100.0 * (len(counts) - len(missed)) / len(counts) if counts else 0.0
        if percent < LEAST:
            low.append(name)
        print(f"| {name} | {len(counts)} | {percent:.0f} % | {' '.join(map(str, missed))} |", flush=True)
    return low


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--build", type=Path, help="a build folder to use again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tornfs-coverage-") as scratch:
        folder = (options.build or Path(scratch)).resolve()
        build(folder)
        low = measure(folder, options.seconds)
    if low:
        sys.exit(f"below {LEAST:.0f} %: {', '.join(low)}")


if __name__ == "__main__":
    main()
