"""Mounting, unmounting, dying."""

import os
import signal
import subprocess

from live_case import TORNFS, LiveCase, main, mounted_below


class Lifecycle(LiveCase):
    def test_mount_returns_when_usable_and_umount_when_gone(self):
        daemon = os.pidfd_open(self.mount()["pid"])
        self.write("a", b"hello")
        self.tornfs("umount", self.mnt)
        self.wait_for_end_of(daemon)
        os.close(daemon)
        self.assertEqual(mounted_below(self.folder), [])
        self.assertEqual(os.listdir(self.mnt), [])

    def test_status(self):
        announced = self.mount("--model", "lazyfs")
        status = self.json("status", self.mnt)
        for key in ("pid", "control", "mount", "model"):
            self.assertEqual(status[key], announced[key])
        self.assertEqual((status["epoch"], status["ops"], status["pending_effects"]), (1, 0, 0))
        self.assertFalse(status["sync_seen"])
        self.assertIn("model            lazyfs\n", self.tornfs("status", self.mnt).stdout)

    def test_daemon_ends_on_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            daemon = os.pidfd_open(self.mount()["pid"])
            signal.pidfd_send_signal(daemon, number)
            self.wait_for_end_of(daemon)
            os.close(daemon)
            self.assertEqual(mounted_below(self.folder), [])

    def test_daemon_ends_when_unmounted_from_outside(self):
        daemon = os.pidfd_open(self.mount()["pid"])
        subprocess.run(["umount", self.mnt], check=True)
        self.wait_for_end_of(daemon)
        os.close(daemon)

    def test_mount_of_a_killed_daemon_is_replaced(self):
        self.kill_daemon(self.mount()["pid"])
        with self.assertRaises(OSError):
            os.listdir(self.mnt)
        self.fails(3, "gone", "status", self.mnt)
        self.mount()
        self.write("a", b"hello")
        self.assertEqual(len(mounted_below(self.folder)), 1)

    def test_umount_after_a_killed_daemon(self):
        self.kill_daemon(self.mount()["pid"])
        self.tornfs("umount", self.mnt)
        self.assertEqual(mounted_below(self.folder), [])

    def test_foreground(self):
        process = self.start(TORNFS, "mount", self.mnt, "--foreground")
        self.assertIn("mounted " + self.mnt, process.stdout.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(mounted_below(self.folder), [])

    def test_import_and_export(self):
        source = os.path.join(self.folder, "source")
        os.makedirs(source + "/d")
        with open(source + "/d/a", "w") as file:
            file.write("content")
        self.mount("--import", source)
        self.assertEqual(self.read("d/a"), b"content")
        self.assertEqual(self.json("unsynced", self.mnt)["pending"], 0)
        self.write("b", b"new")
        target = os.path.join(self.folder, "target")
        self.tornfs("export", self.mnt, target)
        subprocess.run(["diff", "-r", self.mnt, target], check=True)

    def test_memory_limit(self):
        self.mount("--memory-limit", "1MiB")
        with self.assertRaises(OSError) as caught:
            for i in range(4):
                self.write(f"f{i}", b"x" * (1 << 19))
        self.assertEqual(caught.exception.errno, 28)
        self.assertEqual(self.json("status", self.mnt)["epoch"], 1)

    def test_store(self):
        store = os.path.join(self.folder, "store")
        os.mkdir(store)
        self.mount("--store", store)
        self.write("a", b"x" * (2 << 20))
        self.assertEqual(len(self.read("a")), 2 << 20)

    def test_relative_paths(self):
        words = ["mount", "mnt", "--control", "sock"]
        self.tornfs(*words, cwd=self.folder)
        self.tornfs("status", "mnt", "--control", "sock", cwd=self.folder)
        self.tornfs("umount", "mnt", "--control", "sock", cwd=self.folder)

    def test_crash_from_inside_the_mount(self):
        self.mount()
        self.write("a", b"hello")
        self.tornfs("crash", ".", cwd=self.mnt)
        self.assertEqual(os.listdir(self.mnt), [])


if __name__ == "__main__":
    main()
