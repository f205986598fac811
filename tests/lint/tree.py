"""The files of the source tree, for the lint tests, and how they report."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = (".cc", ".h")
TEXT = CODE + (".py", ".sh", ".md", ".txt", ".cmake", ".json", ".toml", ".yml")
# Written by people, without a suffix.
SCRIPTS = ("check", "demo", ".ci/run", "LICENSE", ".clang-format", ".clang-tidy", ".gitignore")
# Folders that hold results or belong to tools.
FOREIGN = re.compile(r"(^|/)(\.git|\.cache|__pycache__|build[^/]*|tornfs-out)(/|$)")


def files(suffixes=TEXT):
    """Paths below ROOT, relative, in order."""
    found = []
    for path in ROOT.rglob("*"):
        name = path.relative_to(ROOT).as_posix()
        if FOREIGN.search(name) or not path.is_file() or path.is_symlink():
            continue
        if path.suffix in suffixes or (suffixes is TEXT and name in SCRIPTS):
            found.append(name)
    return sorted(found)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def finish(problems):
    """Prints each problem, a line each, and ends the test."""
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
