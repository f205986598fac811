#!/usr/bin/env python3
"""Lines of the decoders that their fuzzers reach: `coverage.py BUILD [--seconds N] [--least PERCENT] [DECODER...]`.

BUILD is a build folder in which the fuzzers are built. The sources of each decoder are compiled once more, with
counters, and take the place of those in the libraries of its fuzzer, each target of which runs N seconds. Prints
a Markdown table with the lines never reached; ends with 1 if a decoder stays below PERCENT.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
LEAST = 90.0


def but(*names):
    """A pattern of all functions but those with one of these in their names."""
    return f"(?![^(]*({'|'.join(names)}))"


# By decoder: the program, what it is started with for each of its targets, and the sources of the decoder with
# a pattern of those functions in them that decode, named without namespaces.
DECODERS = {
    "toml": ("decoders_fuzz", ["toml 1 {}s"], {"harness/lazyfs/config.cc": but("ReadConfig")}),
    "fifo": ("decoders_fuzz", ["fifo 1 {}s"], {"harness/lazyfs/fault.cc": but("OpOf")}),
    "control": ("decoders_fuzz", ["control 1 {}s"], {
        "fusefs/fuse/control_server.cc": but("Listen", "AddressOf", "NewSocket", "IsAbandoned", "MayConnect",
                                             "Accept", "~"),
        "harness/live/crash_options.cc": ""}),
    "plan": ("decoders_fuzz", ["plan 1 {}s"], {"fusefs/core/window_text.cc": but("Describe", "GoesOn")}),
    "rule": ("decoders_fuzz", ["rule 1 {}s"], {"harness/live/fault_rule.cc": ""}),
    "trigger": ("decoders_fuzz", ["trigger 1 {}s"], {"fusefs/core/trigger.cc": but("ArmedTrigger")}),
    "slot": ("fuzz_journal", ["slot {}"], {
        "journal/slot.cc": "DecodeSlot|MagicIsAt|FlagsAreBits|DecodeSegments|BoundsHold|SlotFaultText"}),
    "record": ("fuzz_journal", ["record {}", "reference-record {}"], {
        "journal/record.cc": "RecordReader::|DescribePrepare"}),
    "prepare": ("fuzz_journal", ["prepare {}"], {
        "journal/prepare.cc": "DecodePrepare|ReadPrepareHeader|ReservedIsZero|HighHalvesAreZero"}),
    "batch": ("fuzz_journal", ["batch {}"], {"journal/batch.cc": "DecodeBatch|Checksum"}),
    "reference": ("fuzz_journal", ["reference {}"], {
        "journal/segment.cc": r"DecodeReference|IsValid\(tornfs::journal::SegmentReference|ParseRetainedName|TakeNumber"}),
    "segments": ("fuzz_journal", ["segments {}"], {
        "journal/segment.cc": r"DecodeSegmentState|DecodeCursor|IsValid\(tornfs::journal::Segment(State|Cursor)"}),
    "index": ("fuzz_journal", ["index {}"], {"journal/index.cc": "DecodeIndex|IndexContradiction"}),
    "promises": ("fuzz_journal", ["promises {}"], {
        "journal/promises.cc": "ParsePromises|ParsePromise|ParseAll|ApplyLine|IsLowerHex"}),
}


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(str(word) for word in command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Build:
    """What the build folder knows of its commands."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.compilations = {entry["file"]: entry for entry in
                             json.loads((self.folder / "compile_commands.json").read_text())}

    def compile(self, source, into):
        """The object file of `source` with counters, in the folder `into`."""
        words = shlex.split(self.compilations[str(SOURCE / source)]["command"])
        words = words[next(i for i, word in enumerate(words) if word.endswith("++")):]
        target = into / (source.replace("/", "-") + ".o")
        words[words.index("-o") + 1] = target
        run([*words, "--coverage", "-O0", "-UNDEBUG"], cwd=self.folder)
        return target

    def link(self, fuzzer, objects, into):
        """The fuzzer with these objects before its libraries."""
        command = run(["ninja", "-C", self.folder, "-t", "commands", fuzzer]).splitlines()[-1]
        words = shlex.split(command.split("&&")[1])
        target = into / fuzzer
        first = next(i for i, word in enumerate(words) if word.endswith(".a"))
        words[words.index("-o") + 1] = target
        run([*words[:first], *objects, "--coverage", *words[first:]], cwd=self.folder)
        return target


def reached(note, functions, source):
    """{line: whether it ran} of the functions with a name that matches `functions`."""
    report = json.loads(run(["gcov", "--json-format", "--stdout", note], cwd=note.parent))
    lines = {}
    for file in report["files"]:
        if not file["file"].endswith(source):
            continue
        names = {each["name"]: re.sub(r"^(tornfs|journal|harness|\(anonymous namespace\)|::)*", "",
                                      each["demangled_name"]) for each in file["functions"]}
        for line in file["lines"]:
            if re.match(functions, names.get(line.get("function_name"), "")):
                number = line["line_number"]
                lines[number] = lines.get(number, False) or line["count"] > 0
    return lines


def measure(build, name, seconds, into):
    """{source: {line: whether it ran}} of one decoder."""
    fuzzer, starts, sources = DECODERS[name]
    into.mkdir()
    notes = {source: build.compile(source, into) for source in sources}
    program = build.link(fuzzer, notes.values(), into)
    for arguments in starts:
        run([program, *arguments.format(seconds).split()], cwd=into)
    return {source: reached(note.with_suffix(".gcno"), sources[source], source) for source, note in notes.items()}


def spans(numbers):
    """[1, 2, 3, 7] as "1-3, 7"."""
    text, start = [], None
    for number in numbers:
        if start is None or number != last + 1:
            start = number
            text.append("")
        last = number
        text[-1] = f"{start}" if start == number else f"{start}-{number}"
    return ", ".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("decoders", nargs="*", metavar="DECODER", default=[])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--least", type=float, default=LEAST)
    options = parser.parse_intermixed_args()
    unknown = set(options.decoders) - DECODERS.keys()
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(DECODERS)}")
    build, low = Build(options.build), []
    print("| decoder | source | lines | reached | not reached |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tornfs-coverage-") as folder:
        for name in options.decoders or DECODERS:
            counts = [0, 0]
            for source, lines in measure(build, name, options.seconds, Path(folder) / name).items():
                hit = sum(lines.values())
                missed = spans(sorted(number for number, ran in lines.items() if not ran))
                print(f"| {name} | {source} | {len(lines)} | {100 * hit / len(lines):.1f} % | {missed} |", flush=True)
                counts = [counts[0] + hit, counts[1] + len(lines)]
            if 100 * counts[0] < options.least * counts[1]:
                low.append(name)
    if low:
        sys.exit(f"below {options.least:g} %: {', '.join(low)}")


if __name__ == "__main__":
    main()
