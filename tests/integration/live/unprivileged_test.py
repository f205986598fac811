"""Everything without root, through fusermount3, with an empty environment."""

import json
import os
import subprocess
import sys

from live_case import NOBODY, PATIENCE, LiveCase, main, mounted_below, run_as


class Unprivileged(LiveCase):
    def setUp(self):
        super().setUp()
        os.chown(self.mnt, NOBODY, NOBODY)

    def clean_up(self):
        self.tornfs("umount", self.mnt, check=False)
        super().clean_up()

    def tornfs(self, *words, check=True, **options):
        done = subprocess.run([*run_as(NOBODY), self.tornfs_for_all(), *words], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, **options)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def shell(self, script):
        return subprocess.run([*run_as(NOBODY), "sh", "-c", f"cd {self.mnt} && {script}"],
                              capture_output=True, text=True, check=True).stdout

    def test_mount_and_crash(self):
        self.mount()
        self.shell("echo hello > a; mkdir d; sync a; sync .; echo hello > d/b")
        self.assertEqual(self.json("crash", self.mnt)["lost"], 3)
        self.assertEqual(self.shell("cat a; ls d"), "hello\n")
        self.tornfs("umount", self.mnt)
        self.assertEqual(mounted_below(self.folder), [])

    def test_killed_daemon_is_replaced(self):
        self.kill_daemon(self.mount()["pid"])
        self.mount()
        self.assertEqual(len(mounted_below(self.folder)), 1)

    def test_kill(self):
        self.mount()
        victim = self.start(*run_as(NOBODY), "sh", "-c", f"cd {self.mnt} && echo 1 && read x",
                            stdin=subprocess.PIPE)
        victim.stdout.readline()
        self.assertEqual(self.json("crash", self.mnt, "--kill")["killed"], 1)
        victim.wait(PATIENCE)

    def test_allow_other_says_what_is_missing(self):
        done = self.tornfs("mount", self.mnt, "--allow-other", check=False)
        if done.returncode == 0:
            return  # user_allow_other is set in /etc/fuse.conf.
        self.assertEqual(done.returncode, 77)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("user_allow_other", done.stderr)

    def test_run(self):
        done = self.tornfs("run", "--json", "--crash-at", "before op #5", "--then",
                           "cat {promises}; ls; echo $TORNFS_MOUNT", "--", "sh", "-c",
                           "touch a; echo ack; sync .; touch b c")
        self.assertEqual(json.loads(done.stderr)["crash"]["lost"], 1)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:3], ["ack", "ack", "a"])
        self.assertFalse(os.path.exists(lines[3]))

    def test_killed_run_leaves_nothing(self):
        process = self.start(*run_as(NOBODY), self.tornfs_for_all(), "run", "--", "sh", "-c",
                             "setsid sleep 1000 & echo $TORNFS_MOUNT; exec sleep 1000")
        mount = process.stdout.readline().strip()
        self.assertEqual(len(mounted_below(mount)), 1)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            helpers = [os.pidfd_open(int(pid)) for pid in file.read().split()]
        process.kill()
        for fd in helpers:  # They end last.
            self.wait_for_end_of(fd)
            os.close(fd)
        self.assertEqual(mounted_below(mount), [])
        self.assertFalse(os.path.exists(mount))


# In a mount namespace: /dev/fuse for everybody, and an /etc with the mtab without which fusermount3 unmounts
# nothing and which a bare chroot lacks. Then the command line.
SCRIPT = """
set -e
folder=$(mktemp -d)
mount -t tmpfs tmpfs $folder
mknod -m 666 $folder/fuse c 10 229
mount --bind $folder/fuse /dev/fuse
if ! [ -e /etc/mtab ]; then
  cp -a /etc $folder/etc
  ln -s /proc/self/mounts $folder/etc/mtab
  mount --bind $folder/etc /etc
fi
umount -l $folder
rmdir $folder
exec "$@"
"""


def complete_machine():
    """Where this machine keeps others from mounting, goes on in a mount namespace in which it does not."""
    if os.stat("/dev/fuse").st_mode & 0o006 == 0o006 and os.path.exists("/etc/mtab"):
        return
    os.execvp("unshare", ["unshare", "-m", "sh", "-c", SCRIPT, "sh", sys.executable, *sys.argv])


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("becoming another user needs root")
        sys.exit(77)
    complete_machine()
    main()
