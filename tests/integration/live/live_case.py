"""What the tests of live mounts have in common: running tornfs, and leaving nothing behind."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TORNFS = os.environ["TORNFS"]
PATIENCE = 60
NOBODY = 65534


def mounted_below(folder):
    with open("/proc/self/mountinfo") as table:
        points = [line.split()[4] for line in table]
    return [point for point in points if point == folder or point.startswith(folder + "/")]


class LiveCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tornfs-live-")
        os.chmod(self.folder, 0o755)
        self.mnt = os.path.join(self.folder, "mnt")
        os.mkdir(self.mnt)
        self.addCleanup(self.clean_up)

    def clean_up(self):
        for point in mounted_below(self.folder):
            self.tornfs("umount", point, check=False)
        for point in mounted_below(self.folder):
            subprocess.run(["umount", "-l", point], check=False)
        shutil.rmtree(self.folder)

    def tornfs(self, *words, check=True, **options):
        """Runs tornfs to its end. With check, it must succeed."""
        options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(
            [TORNFS, *words], capture_output=True, text=True, timeout=PATIENCE, **options
        )
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def tornfs_for_all(self):
        """A copy of tornfs that every user can start: the build may lie below a private folder."""
        copy = os.path.join(self.folder, "tornfs")
        if not os.path.exists(copy):
            shutil.copy(TORNFS, copy)
        return copy

    def fails(self, exit_code, text, *words, **options):
        """tornfs must fail with this code and say so in exactly one line that contains text."""
        done = self.tornfs(*words, check=False, **options)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(text, done.stderr)
        return done

    def json(self, *words):
        return json.loads(self.tornfs(*words, "--json").stdout)

    def mount(self, *words):
        return self.json("mount", self.mnt, *words)

    def path(self, name):
        return os.path.join(self.mnt, name)

    def write(self, name, data, sync=False, sync_folder=False):
        fd = os.open(self.path(name), os.O_CREAT | os.O_WRONLY, 0o644)
        os.write(fd, data)
        if sync:
            os.fsync(fd)
        os.close(fd)
        if sync_folder:
            self.sync_folder()

    def sync_folder(self, name=""):
        fd = os.open(self.path(name), os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def start(self, *words, **options):
        """Starts a program that the test ends or sees end."""
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(words, text=True, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def wait_for_end_of(self, pid_fd):
        ready, _, _ = select.select([pid_fd], [], [], PATIENCE)
        self.assertTrue(ready, "a process does not end")

    def kill_daemon(self, pid):
        fd = os.pidfd_open(pid)
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        self.wait_for_end_of(fd)
        os.close(fd)


def run_as(uid):
    """A prefix that runs a command as that user, with an empty environment."""
    who = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
    return [*who, "env", "-i", "PATH=/usr/bin:/bin"]


def main():
    if subprocess.run([TORNFS, "doctor"], stdout=subprocess.DEVNULL).returncode == 77:
        print("no FUSE here")
        sys.exit(77)
    unittest.main()
