"""Calls that go wrong on a live mount: --fault, `tornfs fault`, and what is told of it."""

import errno
import os
import subprocess
import sys
import time

import live_case

WRITER = "import os\nfd = os.open('a', os.O_CREAT | os.O_RDWR)\n"


class FaultTest(live_case.LiveCase):
    def fault(self, rule):
        self.tornfs("fault", self.mnt, rule)

    def injected(self):
        return self.json("status", self.mnt)["faults"]["injected"]

    def assert_fails(self, number, call):
        with self.assertRaises(OSError) as caught:
            call()
        self.assertEqual(caught.exception.errno, number)

    def open(self, name):
        fd = os.open(self.path(name), os.O_CREAT | os.O_RDWR, 0o644)
        self.addCleanup(os.close, fd)
        return fd

    def test_errors_by_path_and_count(self):
        self.mount("--fault", "fail:ENOSPC write w/* #2..3")
        os.mkdir(self.path("w"))
        inside, outside = self.open("w/a"), self.open("a")
        for number, fails in enumerate([False, True, True, False]):
            os.write(outside, b"x")
            if fails:
                self.assert_fails(errno.ENOSPC, lambda: os.write(inside, b"x"))
            else:
                self.assertEqual(os.write(inside, b"x"), 1, number)
        faults = self.json("status", self.mnt)["faults"]
        self.assertEqual(faults["injected"], 2)
        self.assertEqual(faults["rules"][0]["matches"], 4)
        self.assertIn("into write w/a", faults["last"][0])

    def test_failed_fsync_as_ext4_leaves_it(self):
        self.mount()
        self.write("a", b"old", sync=True, sync_folder=True)
        self.fault("fail:EIO:ext4 fsync a #1")
        fd = self.open("a")
        os.pwrite(fd, b"new", 0)
        self.assert_fails(errno.EIO, lambda: os.fsync(fd))
        self.assertEqual(os.pread(fd, 3, 0), b"new")
        os.fsync(fd)  # Says that all is well, and writes nothing.
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("a"), b"old")

    def test_failed_fsync_as_btrfs_leaves_it(self):
        self.mount()
        self.write("a", b"old", sync=True, sync_folder=True)
        self.fault("fail:EIO:btrfs fsync a")
        fd = self.open("a")
        os.pwrite(fd, b"newer", 0)
        self.assert_fails(errno.EIO, lambda: os.fsync(fd))
        # The pages are dropped by another thread than the one that answered.
        deadline = time.monotonic() + live_case.PATIENCE
        while os.pread(fd, 9, 0) != b"old" and time.monotonic() < deadline:
            os.sched_yield()
        self.assertEqual(os.pread(fd, 9, 0), b"old")

    def test_failed_fsync_that_keeps_everything(self):
        self.mount()
        self.write("a", b"old", sync=True, sync_folder=True)
        self.fault("fail:EIO:keep fsync a #1")
        fd = self.open("a")
        os.pwrite(fd, b"new", 0)
        self.assert_fails(errno.EIO, lambda: os.fsync(fd))
        os.fsync(fd)
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("a"), b"new")

    def test_a_barrier_that_lies(self):
        self.mount()
        self.write("a", b"old", sync=True, sync_folder=True)
        self.fault("lie fsync a")
        self.write("a", b"new", sync=True)
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("a"), b"old")

    def test_short_write(self):
        self.mount("--fault", "short:3 write a #1")
        fd = self.open("a")
        self.assertEqual(os.write(fd, b"123456"), 3)
        self.assertEqual(os.write(fd, b"456"), 3)
        self.assertEqual(self.read("a"), b"123456")

    def test_reads_that_fail_or_lie(self):
        self.mount()
        self.write("a", b"\0" * 600, sync=True, sync_folder=True)
        self.tornfs("crash", self.mnt)  # Nothing is cached now.
        # Every one: when reading ahead fails, the kernel asks again.
        self.fault("fail:EIO read a")
        self.assert_fails(errno.EIO, lambda: self.read("a"))
        self.tornfs("fault", self.mnt, "--clear")
        self.tornfs("crash", self.mnt)
        self.fault("flip:8 read a #1")
        self.assertEqual(self.read("a")[:3], b"\0\1\0")

    def test_writes_that_go_wrong_silently(self):
        self.mount()
        for name, rule in (("z", "zero write z"), ("m", "misdirect write m #1"), ("f", "flip write f")):
            self.fault(rule)
            self.write(name, b"x" * 4096, sync=True)
        self.sync_folder()
        self.tornfs("crash", self.mnt, "--lose", "none")
        self.assertEqual(self.read("z"), b"\0" * 512 + b"x" * 3584)
        self.assertEqual(self.read("m"), b"\0" * 4096 + b"x" * 4096)
        self.assertEqual(self.read("f")[:2], b"yx")
        self.assertEqual(self.injected(), 3)

    def test_a_delay_holds_up_one_caller_alone(self):
        self.mount("--fault", "delay:1h write slow")
        slow = subprocess.Popen([sys.executable, "-c", "open('slow', 'w').write('x')"], cwd=self.mnt)
        try:
            deadline = time.monotonic() + live_case.PATIENCE
            while self.injected() == 0 and time.monotonic() < deadline:
                os.sched_yield()
            self.write("fast", b"x", sync=True)
            self.assertEqual(self.read("fast"), b"x")
            self.assertIsNone(slow.poll())
        finally:
            slow.kill()
            self.tornfs("umount", self.mnt)
            slow.wait()

    def test_rules_by_program_and_clearing(self):
        self.mount()
        self.fault("fail:EDQUOT create by nobody-of-that-name")
        self.write("a", b"x")
        self.fault("fail:EDQUOT create b")
        self.assert_fails(errno.EDQUOT, lambda: self.write("b", b"x"))
        self.assertEqual(self.json("fault", self.mnt, "--clear")["rules"], 2)
        self.write("b", b"x")

    def test_run(self):
        done = self.tornfs(
            "run", "--json", "--fault", "fail:EIO fsync a", "--", sys.executable, "-c",
            WRITER + "try:\n  os.fsync(fd)\nexcept OSError as e:\n  print('failed', e.errno)")
        self.assertEqual(done.stdout, "failed 5\n")
        self.assertIn('"injected":1', done.stderr)

    def test_a_bad_rule_is_refused(self):
        self.fails(2, "unknown effect", "mount", self.mnt, "--fault", "bang write")
        self.mount()
        self.fails(2, "means nothing", "fault", self.mnt, "lie write")


if __name__ == "__main__":
    live_case.main()
