"""What may happen to a daemon: being killed, a full disk, clients that do not behave."""

import errno
import os
import shutil
import socket
import subprocess
import unittest

import live_case

MIB = 1 << 20


class AdversityTest(live_case.LiveCase):
    def tmpfs(self, size):
        path = os.path.join(self.folder, "small")
        os.mkdir(path)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", path], check=True)
        return path

    def test_a_killed_daemon_answers_nobody_and_can_be_replaced(self):
        mounted = self.mount()
        fd = os.open(self.path("a"), os.O_CREAT | os.O_RDWR, 0o644)
        os.write(fd, b"x")
        self.kill_daemon(mounted["pid"])
        with self.assertRaises(OSError) as caught:
            os.write(fd, b"x")
        self.assertEqual(caught.exception.errno, errno.ENOTCONN)
        os.close(fd)
        done = self.tornfs("status", self.mnt, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.mount()
        self.write("a", b"again")
        self.assertEqual(self.read("a"), b"again")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_full_store_tells_the_program_and_loses_nothing_acknowledged(self):
        self.mount("--memory-limit", str(16 * MIB), "--store", self.tmpfs("24m"))
        self.write("kept", b"acknowledged", sync=True, sync_folder=True)
        fd = os.open(self.path("big"), os.O_CREAT | os.O_WRONLY, 0o644)
        with self.assertRaises(OSError) as caught:
            for i in range(300):
                os.write(fd, bytes([i % 256]) * MIB)
        self.assertEqual(caught.exception.errno, errno.ENOSPC)
        os.close(fd)
        self.assertEqual(self.read("kept"), b"acknowledged")
        self.tornfs("crash", self.mnt)
        self.assertEqual(self.read("kept"), b"acknowledged")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_no_room_for_the_export_is_a_clear_failure(self):
        self.mount()
        self.write("a", b"x" * (4 * MIB))
        target = os.path.join(self.tmpfs("1m"), "out")
        done = self.tornfs("export", self.mnt, target, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(len(self.read("a")), 4 * MIB)

    def in_full_tmp(self, *words):
        """Runs tornfs where nothing can be made in /tmp, which is a mount that nobody else sees."""
        script = 'mount -t tmpfs -o size=4k,nr_inodes=1 tmpfs /tmp && cd / && exec /proc/self/fd/9 "$@"'
        return subprocess.run(
            ["unshare", "-m", "--propagation", "private", "sh", "-c", f'exec 9< "$0" && {script}', live_case.TORNFS,
             *words],
            capture_output=True, text=True, timeout=live_case.PATIENCE, stdin=subprocess.DEVNULL, check=False)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_full_temporary_folder_is_a_clear_failure(self):
        done = self.in_full_tmp("run", "--", "/bin/true")
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Atornfs run: /tmp/\S+: No space left on device\n\Z")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_no_room_for_the_results_of_explore_is_a_clear_failure(self):
        small = self.tmpfs("256k")
        workload = "for i in 1 2 3; do head -c 30000 /dev/zero > f$i; echo saved $i; done"
        filler = os.path.join(small, "filler")
        # From no room at all to room for the trace, and for a part of the findings. How much those take depends on
        # which worker finds what first, so the last may fit.
        for left in (4, 100, 150):
            with open(filler, "wb") as file:
                file.write(bytes((256 - left) << 10))
            out = os.path.join(small, "out")
            done = self.tornfs("explore", "--out", out, "--", "/bin/sh", "-c", workload, check=False)
            if left < 150 or done.returncode != 1:
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("No space left on device", done.stderr.splitlines()[-1])
                self.assertNotIn("verdict", done.stdout)
            shutil.rmtree(out, ignore_errors=True)

    def test_a_store_that_is_not_there_is_refused(self):
        self.fails(2, "not a directory", "mount", self.mnt, "--store", self.folder + "/nowhere")

    def test_a_client_that_never_reads_holds_up_nobody(self):
        control = self.mount()["control"]
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        client.connect(control)
        client.settimeout(live_case.PATIENCE)
        request = b'{"id": 1, "op": "status"}\n' * 1000
        client.setblocking(False)
        try:
            while True:  # Until the daemon does not take any more, unread replies waiting.
                client.send(request)
        except BlockingIOError:
            pass
        self.write("a", b"served all the same", sync=True)
        self.assertEqual(self.read("a"), b"served all the same")
        self.tornfs("status", self.mnt)


if __name__ == "__main__":
    live_case.main()
