#!/usr/bin/env python3
"""Benchmarks, side by side and interleaved, as ratios: `run.py [--rounds N] [--bin DIR] [--only PART...]`.

1. Crash states judged per second, one `journal verify` each, against the rate of the same command
   started in a loop on tmpfs; also by the processor time that one run takes, which other load on
   the machine changes less.
2. The time of file operations, and of sequential I/O and fsync by file size, on a mount against
   tmpfs, ext4 on a loop device, and libfuse's passthrough and passthrough_ll over tmpfs, daemon and
   client on one core.
3. What an acknowledged write costs in SQLite, LevelDB and Redis, against tmpfs and passthrough.

DIR holds tornfs, journal, bench_client and bench_stores; the environment variable TORNFS_BIN names it otherwise.
Needs root, g++ and Debian's libfuse3-dev (passthrough_ll is an example in its documentation). Prints
Markdown. Nothing here is a test: a time is good or bad only beside another one.
"""

import argparse
import ctypes
import gzip
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import apps

EXAMPLES = Path("/usr/share/doc/libfuse3-dev/examples")
COUNT = 2000
WRITES = 3000
PARTS = ("states", "ops", "stream", "apps")
EVERYWHERE = ("tmpfs", "ext4", "passthrough", "passthrough_ll", "tornfs")
MEGABYTES = 512
SPAWNS = 1000
RECORDS = "".join(f"record {number}\n" for number in range(1, 65))
VERIFY = "journal verify --dir j --promises {promises}"


def run(*command, core=None, **options):
    """Standard output of a command that has to succeed, on one core if that is given."""
    pin = (lambda: os.sched_setaffinity(0, {core})) if core is not None else None
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, preexec_fn=pin, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def processor_time():
    """Seconds of all children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def spread(values):
    """The median, and the least and the most."""
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def detach_below(folder):
    """Takes away what is still mounted below `folder`, whoever uses it."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4] for line in lines]
    for point in reversed(points):
        if point.startswith(f"{folder}/"):
            run("umount", "-l", point)


class States:
    """States judged by explore, and the same command on tmpfs."""

    def __init__(self, folder):
        self.folder = folder
        self.acks = run("journal", "append", "--dir", "j", "--group", "1", input=RECORDS, cwd=folder)
        (folder / "acks").write_text(self.acks)

    def explored(self, jobs, cores):
        """Runs per second, and microseconds of processor time per run."""
        before = processor_time()
        out = run("tornfs", "explore", "--json", "--jobs", jobs, "--out", self.folder / "out",
                  "--strategy", "systematic", "--crash-points", "all", "--tear", "sector",
                  "--faults", "kill,power", "--check", VERIFY,
                  "--", "journal", "append", "--dir", "j", "--group", "1", input=RECORDS,
                  cwd=self.folder, core=cores[0] if jobs == 1 else None)
        timing = json.loads(out)["timing"]
        used = processor_time() - before
        return timing["runs"] / (timing["elapsed_ms"] / 1000), used / timing["runs"] * 1e6

    def spawned(self, jobs, cores):
        """The same of the loops on tmpfs."""
        command = VERIFY.format(promises="acks").split()
        before = processor_time()
        loops = [subprocess.Popen(
            ["taskset", "-c", str(cores[i]), "bench_client", "spawn", str(SPAWNS), *command],
            cwd=self.folder, stdout=subprocess.PIPE, text=True) for i in range(jobs)]
        rate = sum(float(loop.communicate()[0]) for loop in loops)
        return rate, (processor_time() - before) / (SPAWNS * jobs) * 1e6


class Mounts:
    """The file systems that operations are timed on."""

    def __init__(self, folder, core):
        self.folder = folder
        self.core = core
        for name, helpers in (("passthrough_ll", "passthrough_helpers.h"), ("passthrough", None)):
            source = EXAMPLES / f"{name}.c"
            text = source.read_bytes() if source.exists() else gzip.decompress(
                source.with_suffix(".c.gz").read_bytes())
            (folder / f"{name}.c").write_bytes(text)
            if helpers:
                shutil.copy(EXAMPLES / helpers, folder)
        flags = run("pkg-config", "--cflags", "--libs", "fuse3").split()
        for name in ("passthrough_ll", "passthrough"):
            run("gcc", "-O2", "-w", folder / f"{name}.c", "-o", folder / name, *flags)

    def time(self, place, way, count):
        if way == "apps":
            return apps.times(place, self.folder, self.core, count)
        out = run("bench_client", way, place, count, core=self.core)
        return {name: float(time) for name, time in (line.split() for line in out.splitlines())}

    def tmpfs(self, way, count):
        place = Path(tempfile.mkdtemp(dir=self.folder))
        times = self.time(place, way, count)
        shutil.rmtree(place)
        return times

    def ext4(self, way, count):
        point = Path(tempfile.mkdtemp(dir=self.folder))
        image = Path(tempfile.mkstemp(prefix="tornfs-bench-", dir="/var/tmp")[1])
        os.truncate(image, 4 << 30)
        run("mkfs.ext4", "-q", "-F", image)
        run("mount", "-o", "loop", image, point)
        image.unlink()
        try:
            return self.time(point, way, count)
        finally:
            run("umount", point)
            point.rmdir()

    def tornfs(self, way, count):
        point = Path(tempfile.mkdtemp(dir=self.folder))
        run("tornfs", "mount", point, "--pin", self.core)
        try:
            return self.time(point, way, count)
        finally:
            run("tornfs", "umount", point)
            point.rmdir()

    def passthrough(self, way, count):
        # By itself it shows the whole machine.
        return self._example("passthrough", "modules=subdir,subdir={}", way, count)

    def passthrough_ll(self, way, count):
        return self._example("passthrough_ll", "source={}", way, count)

    def _example(self, name, options, way, count):
        """One of libfuse's examples over a folder on tmpfs, which `options` name."""
        point = Path(tempfile.mkdtemp(dir=self.folder))
        source = Path(tempfile.mkdtemp(dir=self.folder))
        # In the background: returns when it is mounted.
        run(self.folder / name, "-s", "-o", options.format(source), point, core=self.core)
        try:
            return self.time(point, way, count)
        finally:
            run("fusermount3", "-u", point)
            point.rmdir()
            shutil.rmtree(source)


def print_states(folder, rounds):
    states = States(folder)
    cores = sorted(os.sched_getaffinity(0))
    figures = {jobs: ([], []) for jobs in (1, 2) if jobs <= len(cores)}
    for _ in range(rounds):
        for jobs, (explored, spawned) in figures.items():
            spawned.append(states.spawned(jobs, cores))
            explored.append(states.explored(jobs, cores))
    print("| cores | `tornfs explore`, runs/s | the command on tmpfs, runs/s | ratio "
          "| processor time per run, us | on tmpfs, us | ratio |")
    print("|---|---|---|---|---|---|---|")
    for jobs, (explored, spawned) in figures.items():
        ratio = statistics.median(e[0] / s[0] for e, s in zip(explored, spawned))
        time_ratio = statistics.median(s[1] / e[1] for e, s in zip(explored, spawned))
        columns = [spread([each[0] for each in explored]), spread([each[0] for each in spawned]),
                   f"{ratio:.2f}", spread([each[1] for each in explored]),
                   spread([each[1] for each in spawned]), f"{time_ratio:.2f}"]
        print(f"| {jobs} | {' | '.join(columns)} |")
    if 2 in figures:
        gain = statistics.median(two[0] / one[0] for one, two in zip(figures[1][0], figures[2][0]))
        print(f"\nTwo cores judge {gain:.2f} times as many states as one.")


def print_operations(mounts, way, count, rounds, names, others):
    """Microseconds per operation, all kinds in each round; ratios to `others` are those of each round."""
    times = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            times[name].append(getattr(mounts, name)(way, count))
    titles = [f"{name}, us" for name in names] + [f"tornfs / {other}" for other in others]
    print(f"| operation | {' | '.join(titles)} |")
    print("|---|" + "---|" * len(titles))
    for operation in times["tornfs"][0]:
        columns = [f"{statistics.median(each[operation] for each in times[name]) / 1000:.2f}" for name in names]
        for other in others:
            ratio = statistics.median(ours[operation] / theirs[operation] for ours, theirs in
                                      zip(times["tornfs"], times[other]))
            columns.append(f"{ratio:.2f}")
        print(f"| {operation} | {' | '.join(columns)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bin", default=os.environ.get("TORNFS_BIN"))
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS)
    arguments = parser.parse_args()
    if not arguments.bin or not Path(arguments.bin, "bench_client").exists():
        sys.exit("--bin or TORNFS_BIN must name the folder of tornfs, journal and bench_client")
    os.environ["PATH"] = f"{os.path.abspath(arguments.bin)}:{os.environ['PATH']}"
    # What is mounted here is seen by nobody else, and gone at the end at the latest.
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x00020000) != 0 or libc.mount(None, b"/", None, 0x00044000, None) != 0:
        sys.exit("needs root")
    folder = Path(tempfile.mkdtemp(prefix="tornfs-bench-", dir="/dev/shm"))
    try:
        if "states" in arguments.only:
            print_states(folder, arguments.rounds)
            print()
        mounts = Mounts(folder, max(os.sched_getaffinity(0)))
        passing_on = ("passthrough_ll", "passthrough")
        for way, count, names, others in (
                ("ops", COUNT, EVERYWHERE, passing_on), ("stream", MEGABYTES, EVERYWHERE, passing_on),
                ("apps", WRITES, ("tmpfs", "passthrough", "tornfs"), ("tmpfs", "passthrough"))):
            if way in arguments.only:
                print_operations(mounts, way, count, arguments.rounds, names, others)
                print()
    finally:
        # In this order: what were still mounted here would be emptied. If it cannot be taken away, this ends here.
        detach_below(folder)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
