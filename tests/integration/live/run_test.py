"""tornfs run: exact crash points, promises, exit codes, and nothing left behind."""

import json
import os
import signal
import subprocess
import unittest

from live_case import PATIENCE, TORNFS, LiveCase, main

# Three files, each synced with its name before it is acknowledged: ops 1 to 4, 5 to 8, 9 to 12.
WORKLOAD = """
import os
for i in range(3):
    fd = os.open(f"f{i}", os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"x" * 100)
    os.fsync(fd)
    os.fsync(os.open(".", os.O_RDONLY))
    print("ack", i)
print("rest", end="")
"""


class Run(LiveCase):
    def run_workload(self, *options, workload=WORKLOAD, check=True):
        return self.tornfs("run", "--json", *options, "--", "python3", "-c", workload, check=check)

    def result(self, done):
        return json.loads(done.stderr.splitlines()[-1])

    def crash_at(self, when, *options):
        done = self.run_workload("--crash-at", when, "--then", "sh -c 'echo now; cat {promises}; ls'",
                                 *options)
        before, after = done.stdout.split("now\n")
        return self.result(done), before.splitlines(), after.splitlines()

    def test_before(self):
        result, printed, after = self.crash_at("before fsync f1")
        self.assertEqual(result["crash"]["point"]["op"], 7)
        self.assertEqual(result["crash"]["lost"], 3)
        self.assertEqual(printed, ["ack 0"])
        self.assertEqual(after, ["ack 0", "f0"])

    def test_during_a_barrier_nothing_is_durable_yet(self):
        result, _, after = self.crash_at("during fsyncdir #2")
        self.assertEqual(result["crash"]["lost"], 1)
        self.assertEqual(after, ["ack 0", "f0"])

    def test_after_is_durable_but_not_answered(self):
        result, _, after = self.crash_at("after fsyncdir #2")
        self.assertEqual(result["crash"]["pending"], 0)
        self.assertEqual(after, ["ack 0", "f0", "f1"])

    def test_op_number(self):
        result, _, after = self.crash_at("8")
        self.assertEqual((result["crash"]["point"]["when"], result["crash"]["point"]["op"]),
                         ("before", 8))
        self.assertEqual(after, ["ack 0", "f0"])

    def test_end_and_unfinished_lines(self):
        result, printed, after = self.crash_at("end")
        self.assertNotIn("point", result["crash"])
        self.assertEqual(printed, ["ack 0", "ack 1", "ack 2", "rest"])
        self.assertEqual(after, ["ack 0", "ack 1", "ack 2", "f0", "f1", "f2"])

    def test_setup_is_durable_and_does_not_count(self):
        done = self.tornfs("run", "--setup", "touch one two", "--crash-at", "1", "--then", "ls",
                           "--", "touch", "three")
        self.assertEqual(done.stdout.split(), ["one", "two"])
        self.assertIn("crashed before op 1 (create three)", done.stderr)

    def test_import(self):
        os.mkdir(os.path.join(self.folder, "from"))
        with open(os.path.join(self.folder, "from", "a"), "w") as file:
            file.write("content")
        done = self.tornfs("run", "--import", os.path.join(self.folder, "from"), "--", "cat", "a")
        self.assertEqual(done.stdout, "content")

    def test_plan_and_seed_repeat(self):
        options = ["--crash-at", "end", "--then", "md5sum * | sort"]
        work = "for i in range(9): open(f'f{i}', 'w').write(chr(65 + i) * 9000)"
        first = self.run_workload(*options, "--lose", "random", "--seed", "5", workload=work)
        crash = self.result(first)["crash"]
        self.assertNotIn(crash["lost"], (0, crash["pending"]))
        seeded = self.run_workload(*options, "--lose", "random", "--seed", "5", workload=work)
        planned = self.run_workload(*options, "--plan", crash["plan"], workload=work)
        self.assertEqual(seeded.stdout, first.stdout)
        self.assertEqual(planned.stdout, first.stdout)

    def test_no_program_sees_the_crash(self):
        work = """
import os, threading
def spin(i):
    fd = os.open(f"t{i}", os.O_CREAT | os.O_WRONLY)
    try:
        while True: os.write(fd, b"x" * 5000)
    except OSError:
        os.write(2, b"saw it")
if os.fork() == 0: os.setsid()
for i in range(4): threading.Thread(target=spin, args=(f"{os.getpid()}-{i}",)).start()
"""
        done = self.run_workload("--crash-at", "before write #200", workload=work)
        self.assertNotIn("saw it", done.stderr)
        self.assertEqual(self.result(done)["crash"]["point"]["kind"], "write")

    def test_exit_status_of_the_program(self):
        for words, status in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], 143),
                              (["no-such-program"], 127), (["/etc/passwd"], 126)):
            done = self.tornfs("run", "--", *words, check=False)
            self.assertEqual(done.returncode, status, words)

    def test_crash_point_that_never_comes(self):
        done = self.tornfs("run", "--crash-at", "before fsync nowhere", "--then", "ls", "--",
                           "touch", "a", check=False)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stdout.split(), ["a"])
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("never came", done.stderr)

    def test_then_fails(self):
        done = self.tornfs("run", "--crash-at", "1", "--then", "false", "--", "touch", "a",
                           check=False)
        self.assertEqual(done.returncode, 1)

    def test_failing_setup(self):
        self.fails(125, "the setup failed with status 3", "run", "--setup", "exit 3", "--", "true")

    def test_timeout(self):
        self.fails(137, "ran out of time", "run", "--timeout", "200ms", "--", "sleep", "1000")

    def test_environment_and_input(self):
        script = 'cat; echo "$TORNFS_ORIGIN $TORNFS_SEED $PYTHONUNBUFFERED"; test "$PWD" = "$TORNFS_MOUNT"'
        done = subprocess.run([TORNFS, "run", "--seed", "9", "--", "sh", "-c", script],
                              input="input\n", capture_output=True, text=True, cwd="/usr",
                              timeout=PATIENCE)
        self.assertEqual(done.stdout, "input\n/usr 9 1\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_outlives_the_program_is_killed(self):
        done = self.tornfs("run", "--", "sh", "-c", "sleep 1000 & setsid sleep 1000 & :")
        self.assertIn("outlived", done.stderr)

    def test_closed_streams(self):
        script = 'exec "$0" run -- touch a <&- >&- 2>&-'
        done = subprocess.run(["sh", "-c", script, TORNFS], timeout=PATIENCE)
        self.assertEqual(done.returncode, 0)

    def test_reader_that_leaves(self):
        script = '{ "$0" run -- seq 100000; echo $? >&2; } | head -n 1'
        done = subprocess.run(["sh", "-c", script, TORNFS], capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual((done.stdout, done.stderr), ("1\n", "0\n"))

    def test_at(self):
        done = self.tornfs("run", "--at", self.mnt, "--", "sh", "-c", "echo x > a; pwd")
        self.assertEqual(done.stdout, self.mnt + "\n")
        self.assertEqual(os.listdir(self.mnt), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_user(self):
        done = self.tornfs("run", "--user", "nobody", "--then", "id -un", "--", "touch", "a")
        self.assertEqual(done.stdout, "nobody\n")


class Signals(LiveCase):
    # Two shells in two sessions, each with a child. Each has said so once it waits.
    WAIT = "echo $TORNFS_MOUNT; sleep 1000; :"
    SCRIPT = f"setsid sh -c '{WAIT}' & {WAIT}"

    def start_run(self, **options):
        process = self.start(TORNFS, "run", "--", "sh", "-c", self.SCRIPT, **options)
        process.stdout.readline()
        return process, process.stdout.readline().strip()

    def programs(self, mount):
        """The processes whose environment names that mount."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if f"TORNFS_MOUNT={mount}\0".encode() in file.read():
                        found.append(os.pidfd_open(int(pid)))
            except OSError:
                pass
        return found

    def check_gone(self, mount, programs):
        self.assertGreaterEqual(len(programs), 2)
        for fd in programs:
            self.wait_for_end_of(fd)
            os.close(fd)

    def test_term_and_int(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process, mount = self.start_run()
            programs = self.programs(mount)
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), 128 + number)
            self.check_gone(mount, programs)
            self.assertFalse(os.path.exists(mount))

    def test_kill(self):
        process, mount = self.start_run()
        programs = self.programs(mount)
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
            helpers = [os.pidfd_open(int(pid)) for pid in file.read().split()]
        process.kill()
        self.assertEqual(process.wait(PATIENCE), -signal.SIGKILL)
        self.check_gone(mount, programs)
        for fd in helpers:  # They remove the mount before they end.
            self.wait_for_end_of(fd)
            os.close(fd)
        self.assertFalse(os.path.exists(mount))

    def test_kill_of_the_helper_too(self):
        process, mount = self.start_run(process_group=0)
        programs = self.programs(mount)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        self.check_gone(mount, programs)
        self.tornfs("run", "--", "true")  # Removes what the other one left.
        self.assertFalse(os.path.exists(mount))


if __name__ == "__main__":
    main()
