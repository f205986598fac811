"""What the tests written in Python share: a folder of its own for each test, the programs under
test, and a watch for whatever a test leaves behind.

A test is a script that derives from Case and ends in main(). It finds the programs in the folder
that TORNFS_BIN names, and exits with 77 if everything in it was skipped.
"""

import atexit
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SKIPPED = 77
SOURCE = Path(__file__).resolve().parents[2]

_PR_SET_CHILD_SUBREAPER = 36
_CLONE_NEWNS = 0x00020000
_MS_PRIVATE_RECURSIVE = 0x00040000 | 0x00004000
_MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)
_own_cgroup = False


def full():
    """True when long runs are wanted: --full, or TORNFS_FULL=1."""
    return "--full" in sys.argv or os.environ.get("TORNFS_FULL") == "1"


def children():
    """Processes below this one, orphans included: it is a subreaper."""
    found = []
    for thread in os.listdir("/proc/self/task"):
        text = Path(f"/proc/self/task/{thread}/children").read_text()
        found += [int(word) for word in text.split()]
    return found


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "?"


def await_exit(pid, seconds):
    """Waits for a process, any of this system; False when it is still there."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(fd)


def await_no_children(seconds):
    """Waits until every process below this one has ended. Returns those that have not."""
    deadline = time.monotonic() + seconds
    while True:
        alive = children()
        if not alive:
            return []
        for pid in alive:
            if not await_exit(pid, max(0, deadline - time.monotonic())):
                return children()
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                pass  # Reaped by whoever started it.


def mounts():
    """Mount points of this mount namespace, in the order they were mounted."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line.split()[4].replace("\\040", " ") for line in lines]


def cgroup():
    """Folder of the cgroup v2 of this process, or None."""
    own = Path("/proc/self/cgroup").read_text().partition("0::")[2].partition("\n")[0]
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        words = line.split()
        root = "" if words[3] == "/" else words[3]
        if words[words.index("-") + 1] == "cgroup2" and own and own.startswith(root):
            return Path(words[4] + own[len(root):])
    return None


def cgroups():
    """Names of the control groups below that of this process."""
    folder = cgroup() if _own_cgroup else None
    return [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder else []


def records(count, prefix="record"):
    """Input for `journal append`."""
    return "".join(f"{prefix} {number}\n" for number in range(1, count + 1))


class Result:
    """How a program ended."""

    def __init__(self, command, status, out, err):
        self.command = command
        self.status = status
        self.out = out
        self.err = err

    def __str__(self):
        words = " ".join(str(word) for word in self.command)
        return f"{words}\nstatus {self.status}\n--- out\n{self.out[-3000:]}\n--- err\n{self.err[-3000:]}"


class Case(unittest.TestCase):
    """A test with a folder of its own, `self.folder`, in which its programs start."""

    maxDiff = None
    longMessage = True

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tornfs-test-"))
        self.environment = dict(os.environ)
        self.environment["PATH"] = f"{_bin_folder()}:{os.environ['PATH']}"
        self.environment["LC_ALL"] = "C"
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder / "run")
        (self.folder / "run").mkdir(mode=0o700)
        self._running = []
        self.addCleanup(self._clean_up)

    def need(self, *programs):
        """Skips the test unless all of them are installed."""
        for program in programs:
            if shutil.which(program, path=self.environment["PATH"]) is None:
                self.skipTest(f"{program} is not installed")

    def start(self, *command, **options):
        """Starts a program in a session of its own; it is killed when the test ends."""
        options.setdefault("cwd", self.folder)
        options.setdefault("env", self.environment)
        process = subprocess.Popen([str(word) for word in command], start_new_session=True, **options)
        self._running.append(process)
        return process

    def run_program(self, *command, input="", timeout=300, **options):
        """Runs a program to its end. `input` is text, or a file to read from."""
        is_text = isinstance(input, str)
        process = self.start(
            *command,
            stdin=subprocess.PIPE if is_text else input,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            **options,
        )
        try:
            out, err = process.communicate(input if is_text else None, timeout=timeout)
        except subprocess.TimeoutExpired:
            _kill_session(process)
            out, err = process.communicate()
            self.fail(f"{Result(command, 'none after %d s' % timeout, out, err)}")
        self._running.remove(process)
        result = Result(command, process.returncode, out, err)
        if result.status == SKIPPED and str(command[0]) == "tornfs":
            self.skipTest(err.strip())
        return result

    def must(self, *command, status=0, **options):
        """Runs a program that has to end with `status`."""
        result = self.run_program(*command, **options)
        self.assertEqual(result.status, status, str(result))
        return result

    def explore(self, *options, workload, out="out", statuses=(0, 1), **more):
        """Runs `tornfs explore --json`. The result has the figures in `stats`."""
        result = self.run_program(
            "tornfs", "explore", "--json", "--out", self.folder / out, *options, "--", *workload, **more
        )
        self.assertIn(result.status, statuses, str(result))
        result.stats = json.loads(result.out)
        return result

    def assert_clean(self, result):
        """An exploration that found nothing and did try something."""
        self.assertEqual(result.status, 0, str(result))
        self.assertEqual(result.stats["findings"], [])
        self.assertGreater(result.stats["states"], 0)

    def assert_found(self, result, out="out", times=5):
        """An exploration that found something; every finding is seen again `times` times."""
        self.assertEqual(result.status, 1, str(result))
        found = [finding["id"] for finding in result.stats["findings"]]
        self.assertTrue(found)
        findings = []
        for name in found:
            again = self.must("tornfs", "replay", name, "--out", self.folder / out,
                              "--times", times, status=1)
            self.assertIn(f"reproduced {times} of {times}", again.err)
            text = (self.folder / out / "findings" / name / "finding.json").read_text()
            findings.append(json.loads(text))
        return findings

    def mount(self, *options, name="mnt", status=0):
        """`tornfs mount` on a folder of that name. Unmounted when the test ends."""
        point = self.folder / name
        point.mkdir(exist_ok=True)
        self.must("tornfs", "mount", point, *options, status=status)
        return point

    def native(self, size=1 << 30):
        """A native directory to compare with: an ext4 of its own where that can be made, or else a
        folder."""
        point = self.folder / "native"
        point.mkdir()
        image = self.folder / "image"
        if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
            return point
        with image.open("wb") as file:
            file.truncate(size)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        mounted = subprocess.run(["mount", "-o", "loop,noatime", image, point], capture_output=True, check=False)
        if mounted.returncode == 0:
            self.addCleanup(subprocess.run, ["umount", point], check=True)
        return point

    def umount(self, point):
        self.must("tornfs", "umount", point)
        self.assertEqual(await_no_children(20), [])

    def leftovers(self, seconds=20):
        """Processes, mounts and control groups of this test that are still there."""
        left = [f"process {pid}: {command_of(pid)}" for pid in await_no_children(seconds)]
        left += [f"mount {point}" for point in mounts() if point.startswith(str(self.folder))]
        return left + [f"cgroup {name}" for name in cgroups()]

    def _clean_up(self):
        for process in self._running:
            _kill_session(process)
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()
            process.wait()
        for point in reversed(mounts()):
            if not point.startswith(str(self.folder)):
                continue
            subprocess.run(["tornfs", "umount", point], env=self.environment, capture_output=True,
                           timeout=60, check=False)
            _libc.umount2(point.encode(), _MNT_DETACH)
        left = self.leftovers()
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        await_no_children(20)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.assertEqual(left, [], "left behind")


def _kill_session(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _bin_folder():
    folder = os.environ.get("TORNFS_BIN")
    if not folder or not Path(folder, "tornfs").exists():
        sys.exit("TORNFS_BIN must name the folder of the programs under test")
    return folder


def _isolate():
    """Orphans come to this process, what it mounts is seen by nobody else, and it has a control
    group of its own where that can be made."""
    global _own_cgroup
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.geteuid() == 0 and _libc.unshare(_CLONE_NEWNS) == 0:
        _libc.mount(None, b"/", None, _MS_PRIVATE_RECURSIVE, None)
    before = cgroup()
    if before is None:
        return
    own = before / f"tornfs-test-{os.getpid()}"
    try:
        own.mkdir()
        (own / "cgroup.procs").write_text(str(os.getpid()))
        _own_cgroup = True
    except OSError:
        return
    atexit.register(_leave_cgroup, before, own)


def _leave_cgroup(before, own):
    (before / "cgroup.procs").write_text(str(os.getpid()))
    for folder in [*own.iterdir(), own]:
        if folder.is_dir():
            folder.rmdir()


def main():
    """Runs the tests of the calling script, or those that its arguments name."""
    _bin_folder()
    if not os.path.exists("/dev/fuse"):
        print("skipped: this machine has no /dev/fuse")
        sys.exit(SKIPPED)
    _isolate()
    arguments = [word for word in sys.argv if word != "--full"]
    result = unittest.main(argv=arguments, verbosity=2, exit=False).result
    if result.testsRun == 0:
        sys.exit("no test ran")
    if result.wasSuccessful() and len(result.skipped) == result.testsRun:
        sys.exit(SKIPPED)
    sys.exit(0 if result.wasSuccessful() else 1)
