#!/usr/bin/env python3
"""Every C++ file is as clang-format leaves it. To repair: clang-format -i FILE."""

import shutil
import subprocess
import sys

import tree

if shutil.which("clang-format") is None:
    print("clang-format is not installed")
    sys.exit(77)
result = subprocess.run(
    ["clang-format", "--dry-run", "-Werror", *tree.files(tree.CODE)], cwd=tree.ROOT, check=False
)
sys.exit(1 if result.returncode else 0)
