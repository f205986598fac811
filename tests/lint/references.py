#!/usr/bin/env python3
"""Files that comments and pages point to exist."""

import re

import tree

NAMED = re.compile(
    r"(?<![\w./-])(?:common|fusefs|journal|harness|workloads|tests|docs|cmake)"
    r"/[\w./-]*\w\.(?:h|cc|md|py|sh|txt|cmake)\b"
)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")  # Of Markdown, inside the tree.


def problems():
    for name in tree.files():
        text = tree.read(name)
        for found in sorted(set(NAMED.findall(text))):
            if "NAME" not in found and not (tree.ROOT / found).exists():
                yield f"{name}: there is no {found}"
        if name.endswith(".md"):
            for target in LINK.findall(text):
                if not (tree.ROOT / name).parent.joinpath(target).exists():
                    yield f"{name}: broken link to {target}"


if __name__ == "__main__":
    tree.finish(list(problems()))
