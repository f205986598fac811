#!/usr/bin/env python3
"""Lines of the decoders that their fuzzers reach: `coverage.py BUILD [--runs N] [--least PERCENT] [TARGET...]`.

BUILD is a build folder in which the fuzzers are built. For each target the sources of its decoder and the
fuzzer are compiled once more, with counters, and take the place of those in the fuzzer's libraries. Prints a
Markdown table and the lines never reached; ends with 1 if a target stays below PERCENT.
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
RUNS = 100_000
LEAST = 90.0

# A target is an argument of a fuzzer: (fuzzer, arguments behind the target, {source of its decoder: functions
# in it that do other things, as a pattern}).
TARGETS = {
    "toml": ("decoders_fuzz", ["1", "{runs}"], {"harness/lazyfs/config.cc": "ReadConfig"}),
    "fifo": ("decoders_fuzz", ["1", "{runs}"], {"harness/lazyfs/fault.cc": "OpOf"}),
    "control": ("decoders_fuzz", ["1", "{runs}"], {
        "fusefs/fuse/control_server.cc": "Listen|AddressOf|NewSocket|IsAbandoned|MayConnect|Accept|~",
        "harness/live/crash_options.cc": ""}),
    "plan": ("decoders_fuzz", ["1", "{runs}"], {"fusefs/core/window_text.cc": "Describe|GoesOn"}),
    "rule": ("decoders_fuzz", ["1", "{runs}"], {"harness/live/fault_rule.cc": ""}),
    "trigger": ("decoders_fuzz", ["1", "{runs}"], {"fusefs/core/trigger.cc": "ArmedTrigger"}),
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


def reached(note, others, source):
    """{line: whether it ran} but for functions with a name that matches `others`."""
    report = json.loads(run(["gcov", "--json-format", "--stdout", note], cwd=note.parent))
    lines = {}
    for file in report["files"]:
        if not file["file"].endswith(source):
            continue
        names = {each["name"]: each["demangled_name"] for each in file["functions"]}
        for line in file["lines"]:
            name = names.get(line.get("function_name"), "").replace("(anonymous namespace)", "").partition("(")[0]
            if others and re.search(others, name):
                continue
            number = line["line_number"]
            lines[number] = lines.get(number, False) or line["count"] > 0
    return lines


def measure(build, name, runs, into):
    """{source: {line: whether it ran}} of one target."""
    fuzzer, arguments, decoders = TARGETS[name]
    into.mkdir()
    notes = {source: build.compile(source, into) for source in decoders}
    program = build.link(fuzzer, notes.values(), into)
    run([program, name, *(argument.format(runs=runs) for argument in arguments)], cwd=into)
    return {source: reached(note.with_suffix(".gcno"), decoders[source], source) for source, note in notes.items()}


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
    parser.add_argument("targets", nargs="*", metavar="TARGET", default=[])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--least", type=float, default=LEAST)
    options = parser.parse_intermixed_args()
    unknown = set(options.targets) - TARGETS.keys()
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    build, low = Build(options.build), []
    print("| target | decoder | lines | reached | not reached |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="tornfs-coverage-") as folder:
        for name in options.targets or TARGETS:
            counts = [0, 0]
            for source, lines in measure(build, name, options.runs, Path(folder) / name).items():
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
