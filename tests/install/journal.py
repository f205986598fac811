#!/usr/bin/env python3
"""journal.py BUILD EXAMPLE COMPILER: installs the journal, builds the example against what was
installed, in a folder that knows nothing of this one, and runs it."""

import subprocess
import sys
import tempfile
from pathlib import Path


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def main():
    build, example, compiler = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run("cmake", "--install", build, "--component", "journal", "--prefix", folder / "prefix")
        run("cmake", "-G", "Ninja", "-S", example, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}",
            f"-DCMAKE_CXX_COMPILER={compiler}")
        run("cmake", "--build", folder / "build")
        tasks = folder / "build/tasks"
        assert run(tasks, folder / "list", "first") == "added first\n1 first\n"
        out = run(tasks, folder / "list", "b", "c")
        lines = sorted(out.splitlines())  # Two threads: either may be first.
        assert lines[0] == "1 first" and lines[3:] == ["added b", "added c"], out
        journal = folder / "prefix/bin/journal"
        assert run(journal, "verify", "--dir", folder / "list") == "good: head 3, checkpoint 0\n"


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.cmd}: {error.stdout}{error.stderr}")
