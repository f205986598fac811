#!/usr/bin/env python3
"""Everyday programs on a mount behave as on any other filesystem."""

import hashlib
import os
import stat
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

WRITERS = 8
LINES = 300

# Appends numbered lines to a file of its own and to one that all share.
WRITER = f"""
import os, sys
name = sys.argv[1]
own = os.open("own." + name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
shared = os.open("shared", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in range({LINES}):
    line = (name + " " + str(number) + " " + "x" * (number * 31 % 700) + "\\n").encode()
    for fd in (own, shared):
        if os.write(fd, line) != len(line):
            sys.exit("short write")
"""

PROGRAM = {
    "answer.h": "int answer();\nconst char* greeting();\n",
    "answer.cc": '#include "answer.h"\nint answer() { return 42; }\n',
    "greeting.cc": '#include "answer.h"\nconst char* greeting() { return "hello"; }\n',
    "main.cc": '#include <cstdio>\n#include "answer.h"\n'
               'int main() { std::printf("%s %d\\n", greeting(), answer()); }\n',
}


def content_of(path):
    if path.is_symlink():
        return os.readlink(path)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def manifest(top):
    """Everything below a folder: kind, mode, time, links, content."""
    found = {}
    for path in sorted(top.rglob("*")):
        info = path.lstat()
        time = 0 if stat.S_ISDIR(info.st_mode) else info.st_mtime_ns
        links = info.st_nlink if stat.S_ISREG(info.st_mode) else 0
        found[str(path.relative_to(top))] = (oct(info.st_mode), time, links, content_of(path))
    return found


def make_tree(top):
    """Folders, files of many sizes, a sparse file, links, odd modes and names."""
    for number, size in enumerate((0, 1, 511, 4095, 4096, 4097, 65536, 300_000, 2_500_000)):
        folder = top / f"folder {number % 3}" / f"deeper-{number}"
        folder.mkdir(parents=True)
        (folder / f"size-{size}").write_bytes(hashlib.sha256(str(size).encode()).digest() * (size // 32 + 1))
        os.truncate(folder / f"size-{size}", size)
    with open(top / "sparse", "wb") as file:
        file.seek(1 << 20)
        file.write(b"end")
    (top / "script").write_text("#!/bin/sh\n")
    (top / "script").chmod(0o750)
    (top / "private").write_text("secret")
    (top / "private").chmod(0o400)
    os.link(top / "script", top / "second name")
    os.symlink("folder 0/nowhere", top / "dangling")
    os.symlink("script", top / "näme → ünïcode")
    (top / "empty folder").mkdir(mode=0o711)
    # Old, so that no tool finds the time of its own copy close enough.
    for path in top.rglob("*"):
        os.utime(path, ns=(1_500_000_000_123_456_789, 1_400_000_000_987_654_321), follow_symlinks=False)


class Tools(tornfs.Case):
    def setUp(self):
        super().setUp()
        self.environment |= {"HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"}

    def tree(self):
        top = self.folder / "tree"
        top.mkdir()
        make_tree(top)
        return top

    def test_git(self):
        self.need("git")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.fsync=all"]
        origin = self.folder / "origin"
        self.must("git", "init", "-q", "-b", "main", origin)
        for number in range(5):
            (origin / f"file-{number}").write_text(f"{number}\n" * 500)
            self.must(*git, "-C", origin, "add", ".")
            self.must(*git, "-C", origin, "commit", "-q", "-m", f"commit {number}")
        clone = self.mount() / "clone"
        self.must(*git, "clone", "-q", "--no-local", origin, clone)
        (clone / "more").write_text("more\n")
        (clone / "file-0").write_text("changed\n")
        self.must(*git, "-C", clone, "add", ".")
        self.must(*git, "-C", clone, "commit", "-q", "-m", "on the mount")
        self.must(*git, "-C", clone, "gc", "-q")
        self.must(*git, "-C", clone, "fsck", "--strict", "--full")
        self.assertEqual(self.must(*git, "-C", clone, "status", "--porcelain").out, "")
        log = self.must(*git, "-C", clone, "log", "--format=%s").out.splitlines()
        self.assertEqual(log, ["on the mount", *(f"commit {n}" for n in range(4, -1, -1))])
        self.must(*git, "-C", clone, "push", "-q", "origin", "HEAD:pushed")
        self.must(*git, "-C", origin, "fsck", "--strict")

    def test_tar_in_and_out(self):
        self.need("tar")
        tree = self.tree()
        expected = manifest(tree)
        point = self.mount()
        back = self.folder / "back"
        back.mkdir()
        archive = self.folder / "in.tar"
        self.must("tar", "--format=posix", "-C", tree, "-cf", archive, ".")
        self.must("tar", "-C", point, "-xpf", archive)
        self.assertEqual(manifest(point), expected)
        self.must("tar", "--format=posix", "-C", point, "-cf", self.folder / "out.tar", ".")
        self.must("tar", "-C", back, "-xpf", self.folder / "out.tar")
        self.assertEqual(manifest(back), expected)

    def test_cp_and_rm(self):
        tree = self.tree()
        point = self.mount()
        self.must("cp", "-a", tree, point / "copy")
        self.assertEqual(manifest(point / "copy"), manifest(tree))
        self.must("cp", "-a", point / "copy", point / "again")
        self.assertEqual(manifest(point / "again"), manifest(tree))
        self.must("rm", "-rf", point / "copy", point / "again")
        self.assertEqual(os.listdir(point), [])

    def test_rsync(self):
        self.need("rsync")
        tree = self.tree()
        point = self.mount()
        self.must("rsync", "-aH", f"{tree}/", point / "copy")
        self.assertEqual(manifest(point / "copy"), manifest(tree))
        (tree / "script").write_text("#!/bin/sh\nexit 1\n")
        (tree / "private").unlink()
        self.must("rsync", "-aH", "--delete", "--checksum", f"{tree}/", point / "copy")
        self.assertEqual(manifest(point / "copy"), manifest(tree))
        changes = self.must("rsync", "-aHn", "--delete", "--itemize-changes", f"{tree}/", point / "copy")
        self.assertEqual(changes.out, "")

    def test_a_program_is_built_and_runs(self):
        self.need("g++")
        point = self.mount()
        for name, text in PROGRAM.items():
            (point / name).write_text(text)
        for name in ("answer", "greeting", "main"):
            self.must("g++", "-c", f"{name}.cc", "-o", f"{name}.o", cwd=point)
        self.must("g++", "answer.o", "greeting.o", "main.o", "-o", "program", cwd=point)
        self.assertEqual(self.must(point / "program", cwd=point).out, "hello 42\n")

    def test_fio(self):
        self.need("fio")
        point = self.mount()
        common = ["fio", "--minimal", f"--directory={point}", "--verify=crc32c", "--verify_fatal=1",
                  "--do_verify=1", "--fallocate=none", "--randseed=1"]
        jobs = {
            "sequential": ["--rw=write", "--bs=64k", "--size=32m", "--ioengine=psync", "--end_fsync=1"],
            "random": ["--rw=randwrite", "--bs=4k", "--size=16m", "--ioengine=psync", "--fsync=64"],
            "odd": ["--rw=randwrite", "--bs=512-9k", "--bs_unaligned=1", "--size=8m",
                    "--ioengine=psync"],
            "mapped": ["--rw=randwrite", "--bs=4k", "--size=16m", "--ioengine=mmap"],
        }
        for name, options in jobs.items():
            with self.subTest(job=name):
                self.must(*common, f"--name={name}", *options)

    def test_parallel_writers(self):
        point = self.mount()
        writers = [self.start(sys.executable, "-S", "-c", WRITER, str(name), cwd=point)
                   for name in range(WRITERS)]
        self.assertEqual([writer.wait(timeout=120) for writer in writers], [0] * WRITERS)
        shared = (point / "shared").read_text().splitlines()
        self.assertEqual(len(shared), WRITERS * LINES)
        for name in range(WRITERS):
            expected = [f"{name} {n} " + "x" * (n * 31 % 700) for n in range(LINES)]
            self.assertEqual((point / f"own.{name}").read_text().splitlines(), expected)
            mine = [line for line in shared if line.startswith(f"{name} ")]
            self.assertEqual(mine, expected)


if __name__ == "__main__":
    tornfs.main()
