#!/usr/bin/env python3
"""Text hygiene of every file: markers, length, blanks, paths, and what a C++ file says first."""

import pathlib
import re

import tree

LINES_MAX = 450
# A marker names the issue it waits for: TODO(#12).
MARKER = re.compile(r"\b(?:TODO|FIX" r"ME|X" r"XX)\b(?!\(#\d+\))")
MACHINE_PATH = re.compile(
    r"/(?:work|Users)/\w|/home/(?!me\b|user\b)\w|" + re.escape(f"{tree.ROOT}/")
)
# These name the markers on purpose.
ABOUT_MARKERS = {"tests/lint/text.py", "docs/HACKING.md"}


def of_every_file(name, text):
    lines = text.split("\n")
    if len(lines) - 1 > LINES_MAX:
        yield f"{name}: {len(lines) - 1} lines, more than {LINES_MAX}: split it"
    if text and not text.endswith("\n"):
        yield f"{name}: does not end with a newline"
    if text.endswith("\n\n"):
        yield f"{name}: ends with an empty line"
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield f"{name}:{number}: blanks at the end of the line"
        if "\t" in line and pathlib.Path(name).suffix in tree.CODE:
            yield f"{name}:{number}: a tab"
        if MARKER.search(line) and name not in ABOUT_MARKERS:
            yield f"{name}:{number}: a marker without an issue number"
        if MACHINE_PATH.search(line):
            yield f"{name}:{number}: a path of one machine"


def of_code(name, text):
    """A file says what it is for in its first line, or belongs to a header or source that does."""
    if text.startswith("//"):
        return
    path = pathlib.Path(name)
    if path.suffix == ".cc":
        first = re.match(r'#include "([^"]+)"', text)
        own = first is not None and pathlib.Path(first.group(1)).stem == path.stem
        if own or path.stem.endswith("_test"):
            return
    yield f"{name}: starts without a comment on its purpose"


def problems():
    for name in tree.files():
        text = tree.read(name)
        yield from of_every_file(name, text)
        if name.endswith(tree.CODE):
            yield from of_code(name, text)


if __name__ == "__main__":
    tree.finish(list(problems()))
