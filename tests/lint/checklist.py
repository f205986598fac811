#!/usr/bin/env python3
"""The tests that docs/journal-tests.md names exist, and each of its rows names one."""

import re

import tree

PAGE = "docs/journal-tests.md"
UNIT = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
CTEST = re.compile(r"add_(?:python_)?test\((?:NAME )?(\w+)")
NAMED = re.compile(r"`([A-Za-z]\w*\.\w+|[a-z]+_[a-z_]+)`")


def existing():
    """Names of tests: Suite.Name of the journal's programs, and those of ctest."""
    names = set()
    for name in tree.files():
        if name.startswith("tests/unit/journal/") and name.endswith(".cc"):
            names |= {f"{suite}.{test}" for suite, test in UNIT.findall(tree.read(name))}
        elif name.endswith("CMakeLists.txt"):
            names |= set(CTEST.findall(tree.read(name)))
    return names


def problems():
    known = existing()
    for number, line in enumerate(tree.read(PAGE).splitlines(), 1):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells or set(cells[0]) <= {"-"} or cells[-1] == "tests":
            continue
        named = NAMED.findall(cells[-1])
        if not named:
            yield f"{PAGE}:{number}: no test"
        for name in named:
            if name not in known:
                yield f"{PAGE}:{number}: there is no test {name}"


if __name__ == "__main__":
    tree.finish(list(problems()))
