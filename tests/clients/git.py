#!/usr/bin/env python3
"""git on a mount: a day of work, and every commit after a power loss at work.

git syncs files and never a directory. Where an fsync brings all that was done before (ext4 and others) it keeps,
with `core.fsync=all`, all commits but the last, whose reference was renamed after the last fsync; with a sync of
the folder of references all. Where only what was synced is kept, nothing.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import survival  # noqa: E402
import tornfs  # noqa: E402

COMMITS = """
number=0
while :; do
  number=$((number + 1))
  seq $number >"file-$((number % 7))" && git add . && git commit -q -m "commit $number" && $SYNC || exit 1
  echo "commit $number"
done
"""


class Git(survival.Survival):
    def setUp(self):
        super().setUp()
        self.need("git")
        self.environment |= {
            "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        (self.folder / ".gitconfig").write_text("[core]\nfsync = all\n[init]\ndefaultBranch = main\n")

    def repository(self, model):
        """A repository on a mount of that model, durable."""
        self.point = self.mount("--model", model, name=f"mnt-{model}")
        repository = self.point / "repository"
        self.must("git", "init", "-q", repository)
        self.must("tornfs", "sync", self.point)
        return repository

    def git(self, repository, *arguments, **options):
        return self.must("git", "-C", repository, *arguments, **options)

    def commits_until_crash(self, repository, sync="true", enough=15):
        worker = self.start("sh", "-c", COMMITS, cwd=repository, env=self.environment | {"SYNC": sync}, text=True,
                            stdout=subprocess.PIPE)
        return self.lines_until_crash(self.point, worker, enough)

    def assert_kept(self, repository, promised):
        self.git(repository, "fsck", "--strict", "--full")
        log = self.git(repository, "log", "--format=%s").out.splitlines(keepends=True)
        self.assertEqual(log[::-1][:len(promised)], promised)

    def test_every_commit(self):
        repository = self.repository("ext4")
        self.assert_kept(repository, self.commits_until_crash(repository, sync="sync .git/refs/heads"))

    def test_every_commit_but_the_last(self):
        repository = self.repository("ext4")
        self.assert_kept(repository, self.commits_until_crash(repository)[:-1])

    def test_without_names_commits_are_lost(self):
        repository = self.repository("posix")
        self.commits_until_crash(repository)
        self.git(repository, "log", status=128)

    def test_a_day_of_work(self):
        repository = self.repository("ext4")
        git = lambda *arguments, **options: self.git(repository, *arguments, **options)  # noqa: E731
        for number in range(1, 6):
            (repository / "file").write_text(f"{number}\n" * number)
            git("add", "file")
            git("commit", "-q", "-m", f"main {number}")
        git("checkout", "-q", "-b", "topic", "HEAD~2")
        (repository / "other").write_text("other\n")
        git("add", "other")
        git("commit", "-q", "-m", "topic")
        git("merge", "-q", "-m", "merge", "main")
        git("tag", "-a", "-m", "tag", "v1")
        (repository / "other").write_text("changed\n")
        git("stash", "-q")
        git("gc", "-q", "--prune=now")
        git("checkout", "-q", "main")
        git("rebase", "-q", "topic")
        git("worktree", "add", "-q", self.point / "second", "topic")
        git("bundle", "create", "-q", self.point / "bundle", "--all")
        self.must("git", "clone", "-q", "--no-local", repository, self.point / "clone")
        git("push", "-q", self.point / "clone", "main:refs/heads/pushed")
        self.must("tornfs", "sync", self.point)
        heads = git("for-each-ref").out
        self.crash(self.point)
        self.assertEqual(git("for-each-ref").out, heads)
        for folder in ("repository", "second", "clone"):
            self.git(self.point / folder, "fsck", "--strict", "--full")
            self.assertEqual(self.git(self.point / folder, "status", "--porcelain").out, "")
        git("bundle", "verify", "-q", self.point / "bundle")
        git("stash", "pop", "-q")


if __name__ == "__main__":
    tornfs.main()
