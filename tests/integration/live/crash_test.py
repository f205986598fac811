"""Power losses on a mount that stays."""

import mmap
import os
import signal
import subprocess

from live_case import LiveCase, main


class Crash(LiveCase):
    def test_unsynced_file_goes(self):
        self.mount()
        self.write("a", b"hello")
        report = self.json("crash", self.mnt)
        self.assertEqual(os.listdir(self.mnt), [])
        self.assertEqual((report["epoch"], report["kept"], report["lost"]), (2, 0, 3))

    def test_synced_file_stays_where_its_name_is_synced(self):
        self.mount()
        self.write("a", b"hello", sync=True, sync_folder=True)
        self.write("b", b"hello", sync=True)
        self.tornfs("crash", self.mnt)
        self.assertEqual(os.listdir(self.mnt), ["a"])
        self.assertEqual(self.read("a"), b"hello")

    def test_synced_name_does_not_keep_content(self):
        self.mount()
        self.write("a", b"hello", sync_folder=True)
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("a"), b"")

    def test_synced_name_in_an_unsynced_folder_goes(self):
        self.mount()
        os.mkdir(self.path("d"))
        self.write("d/a", b"hello", sync=True)
        self.sync_folder("d")
        self.tornfs("crash", self.mnt)
        self.assertEqual(os.listdir(self.mnt), [])

    def test_rename_is_lost_without_a_sync_of_the_folder(self):
        self.mount()
        self.write("a", b"old", sync=True, sync_folder=True)
        self.write("b", b"new", sync=True)
        os.rename(self.path("b"), self.path("a"))
        self.assertEqual(self.read("a"), b"new")
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("a"), b"old")

    def test_lose_none_keeps_everything(self):
        self.mount()
        self.write("a", b"hello")
        self.tornfs("crash", self.mnt, "--lose", "none")
        self.assertEqual(self.read("a"), b"hello")
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("a"), b"hello")

    def test_sync_makes_everything_durable(self):
        self.mount()
        self.write("a", b"hello")
        self.assertEqual(self.json("unsynced", self.mnt)["pending"], 3)
        self.tornfs("sync", self.mnt)
        self.assertEqual(self.json("unsynced", self.mnt)["pending"], 0)
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("a"), b"hello")

    def scribble(self):
        for i in range(12):
            self.write(f"f{i}", bytes([65 + i]) * 9000)

    def tree(self):
        return {name: self.read(name) for name in sorted(os.listdir(self.mnt))}

    def test_random_crash_repeats_by_seed_and_by_plan(self):
        self.mount("--model", "posix")
        self.scribble()
        first = self.json("crash", self.mnt, "--lose", "random", "--seed", "11")
        trees = [self.tree()]
        self.assertNotIn(first["lost"], (0, first["pending"]))
        for options in (["--plan", first["plan"]], ["--lose", "random", "--seed", "11"]):
            self.tornfs("umount", self.mnt)
            self.mount()
            self.scribble()
            again = self.json("crash", self.mnt, *options)
            self.assertEqual(again["plan"], first["plan"])
            trees.append(self.tree())
        self.assertEqual(trees[1], trees[0])
        self.assertEqual(trees[2], trees[0])

    def test_plan_that_does_not_fit_loses_nothing(self):
        self.mount()
        self.write("a", b"hello")
        self.fails(2, "does not fit", "crash", self.mnt, "--plan", "99:0-3")
        self.assertEqual(self.read("a"), b"hello")
        self.write("b", b"still writable")
        self.assertEqual(self.json("status", self.mnt)["epoch"], 1)

    def test_processes_live_on_with_dead_descriptors(self):
        self.mount()
        fd = os.open(self.path("a"), os.O_CREAT | os.O_RDWR)
        root = os.open(self.mnt, os.O_RDONLY)
        os.write(fd, b"x")
        self.tornfs("crash", self.mnt)
        for call in (lambda: os.write(fd, b"y"), lambda: os.pread(fd, 1, 0), lambda: os.fsync(fd)):
            with self.assertRaises(OSError) as caught:
                call()
            self.assertEqual(caught.exception.errno, 5)
        self.assertEqual(os.listdir(root), [])
        os.close(os.open("b", os.O_CREAT | os.O_WRONLY, dir_fd=root))
        self.assertEqual(os.listdir(self.mnt), ["b"])
        os.close(fd)
        os.close(root)

    def test_stores_through_a_mapping_are_pending(self):
        self.mount()
        self.write("a", b"0" * 4096, sync=True, sync_folder=True)
        fd = os.open(self.path("a"), os.O_RDWR)
        with mmap.mmap(fd, 4096) as mapping:
            mapping[0] = ord("1")
            report = self.json("crash", self.mnt, "--lose", "none")
            self.assertEqual(report["kept"], 1)
        os.close(fd)
        self.assertEqual(self.read("a")[:2], b"10")

    def test_kill_ends_whoever_uses_the_mount(self):
        self.mount()
        self.write("a", b"0" * 4096, sync=True, sync_folder=True)
        holds = self.start(
            "python3", "-c", "import os; f = open('a'); os.chdir('/'); print(1, flush=1); input()",
            cwd=self.mnt, stdin=subprocess.PIPE)
        stands = self.start("sh", "-c", "echo 1; read x", cwd=self.mnt, stdin=subprocess.PIPE)
        maps = self.start(
            "python3", "-c",
            "import mmap, os; f = open('a', 'r+b'); m = mmap.mmap(f.fileno(), 4096); f.close()\n"
            "os.closerange(3, 99); os.chdir('/'); print(1, flush=1); input()",
            cwd=self.mnt, stdin=subprocess.PIPE)
        bystander = self.start("sh", "-c", "echo 1; read x", stdin=subprocess.PIPE)
        for process in (holds, stands, maps, bystander):
            self.assertEqual(process.stdout.readline(), "1\n")
        report = self.json("crash", self.mnt, "--kill")
        self.assertEqual(report["killed"], 3)
        for process in (holds, stands, maps):
            self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertIsNone(bystander.poll())

    def test_model_decides(self):
        self.mount("--model", "strict")
        self.write("a", b"1")
        self.write("b", b"2", sync=True)
        self.tornfs("crash", self.mnt)
        self.assertEqual(sorted(os.listdir(self.mnt)), ["a", "b"])
        self.assertEqual(self.json("status", self.mnt)["model"], "strict")


class Arm(LiveCase):
    def status_after_crash(self):
        """The call at which an armed crash fires returns before the crash is over."""
        status = self.json("status", self.mnt)
        while status["crashing"]:
            status = self.json("status", self.mnt)
        return status

    def test_armed_crash_comes_at_its_op(self):
        self.mount()
        os.mkdir(self.path("wal"))
        self.sync_folder()
        self.tornfs("arm", self.mnt, "before fsync wal/* #2")
        armed = self.json("status", self.mnt)["armed"]
        self.assertEqual((armed["trigger"], armed["matches"]), ("before fsync wal/* #2", 0))
        self.write("wal/1", b"1", sync=True, sync_folder=True)
        self.sync_folder("wal")
        self.assertEqual(self.json("status", self.mnt)["armed"]["matches"], 1)
        with self.assertRaises(OSError) as caught:
            self.write("wal/2", b"2", sync=True)
        self.assertEqual(caught.exception.errno, 5)
        status = self.status_after_crash()
        self.assertIsNone(status["armed"])
        self.assertEqual(status["epoch"], 2)
        point = status["last_crash"]["point"]
        self.assertEqual((point["when"], point["kind"], point["path"]), ("before", "fsync", "wal/2"))
        self.assertEqual(os.listdir(self.path("wal")), ["1"])

    def test_armed_crash_kills(self):
        self.mount()
        self.tornfs("arm", self.mnt, "after write a", "--kill", "--lose", "none")
        victim = self.start(
            "python3", "-c",
            "import os\ntry: os.write(os.open('a', os.O_CREAT | os.O_WRONLY), b'1')\n"
            "finally: print('went on')",
            cwd=self.mnt)
        self.assertEqual(victim.wait(), -signal.SIGKILL)
        self.assertEqual(victim.stdout.read(), "")
        self.assertEqual(self.status_after_crash()["last_crash"]["killed"], 1)
        self.assertEqual(self.read("a"), b"1")

    def test_disarm(self):
        self.mount()
        self.assertFalse(self.json("disarm", self.mnt)["was_armed"])
        self.tornfs("arm", self.mnt, "before write")
        self.assertTrue(self.json("disarm", self.mnt)["was_armed"])
        self.write("a", b"1")
        self.assertEqual(self.json("status", self.mnt)["epoch"], 1)


if __name__ == "__main__":
    main()
