"""A configuration file and a script of commands as LazyFS has them, unchanged."""

import os
import select
import subprocess

import live_case

CONFIG = """\
[faults]
fifo_path="{folder}/faults.fifo"
fifo_path_completed="{folder}/done.fifo"

[cache]
apply_eviction=false

[cache.simple]
custom_size="0.5GB"
blocks_per_page=1

[filesystem]
log_all_operations=false
logfile="{folder}/lazyfs.log"
"""


class LazyFsTest(live_case.LiveCase):
    def start(self, more="", *words):
        config = os.path.join(self.folder, "config.toml")
        with open(config, "w") as file:
            file.write(CONFIG.format(folder=self.folder) + more.format(folder=self.folder))
        mounted = self.mount("--lazyfs-config", config, *words)
        self.assertEqual(mounted["model"], "lazyfs")
        self.done = os.open(self.folder + "/done.fifo", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, self.done)

    def send(self, *lines):
        # As `echo` does it.
        with open(self.folder + "/faults.fifo", "w") as fifo:
            fifo.write("".join(line + "\n" for line in lines))

    def answer(self):
        text = b""
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([self.done], [], [], live_case.PATIENCE)
            self.assertTrue(ready, "no answer on the completion FIFO")
            text += os.read(self.done, 1)
        return text.decode().strip()

    def obey(self, line):
        self.send(line)
        return self.answer()

    def log(self):
        with open(self.folder + "/lazyfs.log") as file:
            return file.read()

    def epoch(self):
        return self.json("status", self.mnt)["epoch"]

    def comes_back(self, before):
        """Waits until a crash has been carried out: the call that met it fails a little earlier."""
        while self.epoch() == before:
            pass

    def dies_writing(self, name, *writes):
        """A program that writes the pieces one by one, until the power goes."""
        before = self.epoch()
        fd = os.open(self.path(name), os.O_CREAT | os.O_WRONLY, 0o644)
        try:
            with self.assertRaises(OSError):
                for data in writes:
                    os.write(fd, data)
                os.fsync(fd)
        finally:
            os.close(fd)
        self.comes_back(before)

    def test_clear_cache(self):
        self.start()
        self.write("synced", b"old", sync=True)
        self.write("unsynced", b"new")
        self.assertEqual(self.obey("lazyfs::clear-cache"), "finished::clear-cache")
        self.assertEqual(self.read("synced"), b"old")
        self.assertNotEqual(self.read("unsynced"), b"new")
        log = self.log()
        for text in ("[lazyfs.fifo]: running LazyFS...", "waiting for fault commands...",
                     "clear cache request submitted...", "cache is cleared."):
            self.assertIn(text, log)
        self.assertRegex(log, r"(?m)^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] \[global\] \[info\] ")

    def test_checkpoint_and_report(self):
        self.start()
        self.write("a", b"x" * 5000)
        self.assertEqual(self.obey("lazyfs::unsynced-data-report"), "finished::unsynced-data-report")
        self.assertIn("is not fully synced", self.log())
        self.assertIn("total number of bytes un-fsynced: 5000 bytes.", self.log())
        self.assertIn("[byte index 0 to index 4999]", self.log())
        self.assertEqual(self.obey("lazyfs::cache-checkpoint"), "finished::cache-checkpoint")
        self.assertEqual(self.obey("lazyfs::unsynced-data-report"), "finished::unsynced-data-report")
        self.assertIn("all data blocks are synced!", self.log())
        self.assertEqual(self.obey("lazyfs::clear-cache"), "finished::clear-cache")
        self.assertEqual(self.read("a"), b"x" * 5000)

    def test_several_commands_in_one_write(self):
        self.start()
        self.send("lazyfs::display-cache-usage", "lazyfs::help", "lazyfs::nonsense", "x" * 200)
        self.assertEqual(self.answer(), "finished::display-cache-usage")
        self.assertEqual(self.answer(), "finished::help")
        self.assertTrue(self.answer().startswith("failed::nonsense::"))
        self.assertTrue(self.answer().startswith("failed::"))
        self.assertIn("cache usage (%pages) is ", self.log())
        self.assertIn("command unknown 'lazyfs::nonsense'", self.log())

    def test_crash_before_and_after(self):
        self.start()
        self.assertEqual(self.obey("lazyfs::crash::timing=before::op=write::from_rgx=fil[e]1"),
                         "finished::crash")
        self.assertIn("received: VALID crash fault:", self.log())
        self.write("other", b"fine", sync=True)
        self.dies_writing("file1", b"lost")
        self.assertEqual(self.read("file1"), b"")
        self.assertEqual(self.read("other"), b"fine")
        self.assertIn("Triggered fault condition (op=write,timing=before)", self.log())
        self.assertIn("Killing LazyFS pid", self.log())
        self.obey("lazyfs::crash::timing=after::op=rename::from_rgx=oth::to_rgx=ther2")
        before = self.epoch()
        with self.assertRaises(OSError):
            os.rename(self.path("other"), self.path("other2"))
        self.comes_back(before)
        self.assertEqual(self.read("other2"), b"fine")
        self.assertIn("Triggered fault condition (op=rename,timing=after)", self.log())

    def test_crash_before_a_read(self):
        self.start()
        self.write("a", b"synced", sync=True)
        self.assertEqual(self.obey("lazyfs::clear-cache"), "finished::clear-cache")
        self.obey("lazyfs::crash::timing=before::op=read::from_rgx=a$")
        before = self.epoch()
        with self.assertRaises(OSError):
            self.read("a")
        self.comes_back(before)
        self.assertEqual(self.read("a"), b"synced")
        self.assertIn("Triggered fault condition (op=read,timing=before)", self.log())

    def test_invalid_faults_are_refused(self):
        self.start()
        self.assertTrue(self.obey("lazyfs::crash::timing=never::op=write::from_rgx=a")
                        .startswith("failed::crash::"))
        self.assertIn("received: INVALID crash fault:", self.log())
        self.assertTrue(self.obey("lazyfs::torn-op::file=a::persist=1").startswith("failed::torn-op::"))
        self.assertIn("received: INVALID torn-op fault:", self.log())

    def test_torn_op_by_parts(self):
        self.start()
        self.assertEqual(self.obey(f"lazyfs::torn-op::file={self.mnt}/a::persist=1,3::parts=3"),
                         "finished::torn-op")
        self.assertIn("configured successfully", self.log())
        self.dies_writing("a", b"111222333")
        self.assertEqual(self.read("a"), b"111\0\0\x00333")
        self.assertIn("will persist 3 bytes from offset 6", self.log())

    def test_torn_op_by_bytes_and_occurrence_from_the_configuration(self):
        self.start('\n[[injection]]\ntype="torn-op"\nfile="/below/a"\noccurrence=2\n'
                   'parts_bytes=[4096,1000,904]\npersist=[2]\n')
        self.dies_writing("a", b"f" * 10, b"x" * 4096 + b"y" * 1000 + b"z" * 904)
        self.assertEqual(self.read("a"), b"\0" * 4106 + b"y" * 1000 + b"\0" * 904)

    def test_torn_seq(self):
        self.start()
        self.obey("lazyfs::torn-seq::op=write::file=a::persist=1,4")
        self.dies_writing("a", b"1111", b"2222", b"3333", b"4444")
        self.assertEqual(self.read("a"), b"1111" + b"\0" * 8 + b"4444")
        self.assertIn("Going to persist the write 4 for the path", self.log())

    def test_clear_from_the_configuration(self):
        self.start('\n[[injection]]\ntype="clear-cache"\ntiming="after"\nop="write"\n'
                   'from="a"\noccurrence=2\ncrash=false\n')
        self.dies_writing("a", b"1", b"2")
        self.assertEqual(self.read("a").strip(b"\0"), b"")

    def test_fifo_alone(self):
        fifo = os.path.join(self.folder, "f")
        process = subprocess.Popen(
            [live_case.TORNFS, "mount", self.mnt, "--lazyfs-fifo", fifo, "--foreground"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        for line in process.stdout:
            if "waiting for fault commands" in line:
                break
        self.write("a", b"gone")
        with open(fifo, "w") as commands:
            commands.write("lazyfs::clear-cache\n")
        for line in process.stdout:
            if "cache is cleared" in line:
                break
        self.assertRegex(line, r"\] \[console\] \[warning\] \[lazyfs.cmds\]: cache is cleared\.$")
        self.tornfs("umount", self.mnt)
        process.wait()
        self.assertFalse(os.path.exists(fifo))


if __name__ == "__main__":
    live_case.main()
