"""Memory is bounded, and running out of it is ENOSPC for programs and never the end of the mount.

Short forms; with --long, the sizes that acceptance speaks of.
"""

import errno
import os
import resource
import shutil
import subprocess
import sys
import unittest

import live_case

LONG = "--long" in sys.argv
MIB = 1 << 20


class MemoryTest(live_case.LiveCase):
    def store(self):
        path = os.path.join(self.folder, "store")
        os.mkdir(path)
        return path

    def memory(self):
        return self.json("status", self.mnt)["memory"]

    def assert_bounded(self, limit):
        self.assertLessEqual(self.memory()["resident"], limit + 64 * MIB)

    def pour(self, name, size, seed=0, sync_every=0):
        """Writes `size` bytes that are unlike each other, a MiB at a time."""
        fd = os.open(self.path(name), os.O_CREAT | os.O_WRONLY, 0o644)
        for i in range(size // MIB):
            os.write(fd, self.block(i + seed))
            if sync_every and i % sync_every == 0:
                os.fsync(fd)
        os.close(fd)

    @staticmethod
    def block(number):
        return number.to_bytes(8, "little") * (MIB // 8)

    def test_contents_move_to_the_store(self):
        limit, size = 64 * MIB, (10 << 30) if LONG else 400 * MIB
        self.mount("--memory-limit", str(limit), "--store", self.store())
        self.pour("a", size)
        self.assert_bounded(limit)
        with open(self.path("a"), "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            for i in range(size // MIB):
                self.assertEqual(file.read(MIB), self.block(i), i)
        self.assert_bounded(limit)
        self.assertGreater(self.memory()["moved_bytes"], 200 * MIB)

    def test_overwritten_contents_are_let_go(self):
        limit = 256 * MIB
        self.mount("--memory-limit", str(limit), "--store", "none")
        for i in range(100 if LONG else 12):
            self.pour("a", 50 * MIB, seed=i, sync_every=10)
        self.assertLess(self.json("status", self.mnt)["stored_bytes"], limit)
        self.assert_bounded(limit)

    def test_epochs_do_not_grow(self):
        self.mount("--memory-limit", str(256 * MIB), "--store", "none")
        count = 1000 if LONG else 30
        control = self.json("status", self.mnt)
        resident = []
        for i in range(count):
            self.pour(f"f{i % 3}", 2 * MIB, seed=i)
            self.write("name", b"x", sync=True, sync_folder=True)
            self.tornfs("crash", self.mnt, "--lose", "random", "--seed", str(i))
            resident.append(self.memory()["resident"])
        self.assertEqual(self.json("status", self.mnt)["epoch"], control["epoch"] + count)
        self.assertLess(resident[-1] - resident[count // 3], 192 * MIB)
        self.assertLess(self.json("status", self.mnt)["stored_bytes"], 192 * MIB)

    def test_names_of_removed_directories_do_not_stay_pending(self):
        self.mount()
        for _ in range(50):
            os.mkdir(self.path("d"))
            self.write("d/a", b"x")
            os.rename(self.path("d/a"), self.path("d/b"))
            os.unlink(self.path("d/b"))
            os.rmdir(self.path("d"))
            self.sync_folder()
        self.assertLess(self.json("status", self.mnt)["pending_effects"], 10)

    def test_many_files(self):
        count = 1_000_000 if LONG else 20_000
        self.mount()
        before = self.memory()["resident"]
        for i in range(count):
            os.close(os.open(self.path(f"{i:07}"), os.O_CREAT | os.O_WRONLY, 0o644))
        per_file = (self.memory()["resident"] - before) / count
        print(f"\n{per_file:.0f} bytes of memory for each of {count} files")
        self.assertLess(per_file, 2500)
        self.assertEqual(len(os.listdir(self.mnt)), count)
        for i in range(count):
            os.unlink(self.path(f"{i:07}"))
        self.assertEqual(os.listdir(self.mnt), [])
        self.write("still", b"works")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_full_store_has_room_again(self):
        store = self.store()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", store], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", store], check=True)
        self.mount("--memory-limit", str(32 * MIB), "--store", store)
        with self.assertRaises(OSError) as caught:
            self.pour("a", 600 * MIB)
        self.assertEqual(caught.exception.errno, errno.ENOSPC)
        self.assertTrue(self.memory()["short"])
        os.truncate(self.path("a"), 0)
        self.write("a", b"", sync=True, sync_folder=True)
        self.write("b", b"room again", sync=True, sync_folder=True)
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("b"), b"room again")

    def test_ten_thousand_open_files(self):
        self.mount()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = min(10_000, hard - 100)
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, hard))
        fds = [os.open(self.path(f"f{i}"), os.O_CREAT | os.O_RDWR, 0o644) for i in range(count)]
        for fd in fds:
            os.write(fd, b"x")
        self.tornfs("crash", self.mnt)
        with self.assertRaises(OSError) as caught:
            os.write(fds[0], b"x")
        self.assertEqual(caught.exception.errno, errno.EIO)
        for fd in fds:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.write("still", b"works")

    def test_fio_verifies(self):
        if shutil.which("fio") is None:
            self.skipTest("fio is not installed")
        limit = 256 * MIB
        self.mount("--memory-limit", str(limit), "--store", self.store())
        size = "512m" if LONG else "32m"
        for name, options in {
            "seq": ["--rw=write", "--bs=1m"],
            "random": ["--rw=randwrite", "--bs=4k"],
            "mmap": ["--rw=randwrite", "--bs=4k", "--ioengine=mmap"],
            "direct": ["--rw=randwrite", "--bs=16k", "--direct=1"],
            "uring": ["--rw=randwrite", "--bs=8k", "--ioengine=io_uring", "--iodepth=8"],
        }.items():
            with self.subTest(name):
                subprocess.run(
                    ["fio", f"--name={name}", f"--directory={self.mnt}", f"--size={size}",
                     "--numjobs=4", "--verify=crc32c", "--verify_fatal=1", "--group_reporting",
                     "--output-format=terse", *options],
                    check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
                self.assert_bounded(limit)


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--long"]
    live_case.main()
