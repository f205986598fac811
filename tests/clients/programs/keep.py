#!/usr/bin/env python3
"""keep: keeps one number in a file, in one of the ways programs do it, right or wrong.

    keep.py append|replace [MISTAKE] COUNT    keeps 1 to COUNT, prints `kept N` for each
    keep.py check PROMISES                    is the last number promised there?

`append` adds a line to `log`; `replace` writes `value.new` and renames it to `value`.
MISTAKE: --no-sync leaves out the sync of the file, --no-directory-sync that of the directory.
"""

import os
import sys
from pathlib import Path


def sync_directory():
    directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(directory)
    os.close(directory)


def write(fd, text, mistake):
    os.write(fd, text.encode())
    if mistake != "--no-sync":
        os.fsync(fd)


def append(number, mistake):
    created = not os.path.exists("log")
    fd = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    if created and mistake != "--no-directory-sync":
        sync_directory()
    write(fd, f"{number}\n", mistake)
    os.close(fd)


def replace(number, mistake):
    fd = os.open("value.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    write(fd, f"{number}\n", mistake)
    os.close(fd)
    os.rename("value.new", "value")
    if mistake != "--no-directory-sync":
        sync_directory()


def last_line(text):
    """The last whole line as a number; 0 without one, None when it is none."""
    lines = text.split("\n")[:-1]
    if not lines:
        return 0
    return int(lines[-1]) if lines[-1].isdecimal() else None


def check(promises):
    promised = len(Path(promises).read_text().splitlines())
    for name in ("log", "value"):
        if not os.path.exists(name):
            continue
        found = last_line(Path(name).read_text(errors="replace"))
        if found is None or found < promised:
            print(f"{name} holds {found}, promised was {promised}")
            return 1
        return 0
    if promised:
        print(f"there is no file, promised was {promised}")
    return 1 if promised else 0


def main():
    way, *mistake, last = sys.argv[1:]
    if way == "check":
        return check(last)
    keep = {"append": append, "replace": replace}[way]
    for number in range(1, int(last) + 1):
        keep(number, mistake[0] if mistake else "")
        print(f"kept {number}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
