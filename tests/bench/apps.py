"""Databases that make every write durable before they acknowledge it, on a folder: what one costs.

SQLite in WAL mode with synchronous=FULL and LevelDB with synced writes, in process (bench_stores); a Redis
server with `appendfsync always` and one client. Whatever is not installed is left out.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "clients" / "programs")]

import redis_rows  # noqa: E402

VALUE = 100
LACKING = 77


@contextmanager
def pinned(core):
    """This process, and what it starts, on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _embedded(store, place, count):
    """Nanoseconds per write, or None where the store is not built in."""
    done = subprocess.run(["bench_stores", store, str(place), str(count), str(VALUE), "1"], capture_output=True,
                          text=True, check=False)
    if done.returncode == LACKING:
        return None
    if done.returncode != 0:
        sys.exit(f"bench_stores {store}: status {done.returncode}\n{done.stderr}")
    return 1e9 / json.loads(done.stdout)["acks_per_second"]


def _redis(place, side, count):
    if not (shutil.which("redis-server") and shutil.which("redis-benchmark")):
        return None
    redis = redis_rows.Redis(place, side)
    with redis.server:
        done = subprocess.run(["redis-benchmark", "-s", redis.address, "-c", "1", "-n", str(count), "-d", str(VALUE),
                               "-r", "100000", "-t", "set", "--csv"], capture_output=True, text=True, check=True)
        redis.stop()
    return 1e9 / float(next(csv.DictReader(done.stdout.splitlines()))["rps"])


def times(place, side, core, count):
    """{name: nanoseconds per write} of `count` writes each in new folders of `place`; `side` is for sockets."""
    found = {}
    with pinned(core):
        for name, measure in (("SQLite, WAL, FULL", lambda at: _embedded("sqlite", at, count)),
                              ("LevelDB, sync", lambda at: _embedded("leveldb", at, count)),
                              ("Redis, always", lambda at: _redis(at, side, count))):
            at = Path(place) / name.split(",")[0]
            at.mkdir()
            found[name] = measure(at)
            shutil.rmtree(at)
    return {name: time for name, time in found.items() if time is not None}
