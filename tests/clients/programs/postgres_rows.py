#!/usr/bin/env python3
"""A PostgreSQL server on `data` in the working directory, with numbered rows.

    postgres_rows.py create              makes `data`, with a table
    postgres_rows.py put COUNT [FSYNC]   starts a server, inserts rows, prints `row N` for each commit, kills it
    postgres_rows.py check PROMISES      does a server started here have every `row N` of the file?

FSYNC is on (the default) or off. Not for root: the server refuses it. The socket and the log are in a
folder of their own below /tmp.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import acts  # noqa: E402
from server import Failed, Server  # noqa: E402

USER = "postgres"
# Only what the clients make happen: no statistics, no vacuum and no checkpoint by the clock.
QUIET = ("autovacuum=off", "checkpoint_timeout=1d", "bgwriter_lru_maxpages=0", "max_wal_senders=0",
         "wal_level=minimal", "max_logical_replication_workers=0", "jit=off", "shared_buffers=1MB",
         "max_connections=10")


def binary(name):
    """A program of the newest server installed, or None."""
    return max(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), default=None,
               key=lambda path: int(path.parts[-3]))


def create_cluster(data, **options):
    """initdb, by the user who is to own it. What it leaves is not synced."""
    command = [binary("initdb"), "--no-sync", "--auth=trust", "--username", USER, "--wal-segsize=1", "-E", "UTF8",
               "--locale=C", "-D", data]
    made = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if made.returncode != 0:
        raise Failed(f"initdb: {made.stdout}{made.stderr}")


class Postgres:
    """A server on a data folder, with its socket and log in `side`. `options` are those of Popen."""

    def __init__(self, data, side, settings=(), **options):
        self.side = str(side)
        self.options = options
        # Whoever wrote it is gone, and its process id may be that of another now.
        Path(data, "postmaster.pid").unlink(missing_ok=True)
        command = [binary("postgres"), "-D", data, "-c", "listen_addresses=", "-c",
                   f"unix_socket_directories={side}"]
        for setting in settings:
            command += ["-c", setting]
        self.server = Server(command, Path(side) / "postgres.log", cwd="/", **options)

    def client(self, name, *arguments):
        """The command line of a client program that comes with the server."""
        return [binary(name), "-h", self.side, "-U", USER, *arguments]

    def ask(self, sql):
        """Rows of the answer, fields parted by '|'. Raises Failed."""
        command = self.client("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", USER, "-c", sql)
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self.options)
        if done.returncode != 0:
            raise Failed(f"psql: {done.stdout}{done.stderr}{self.server.said()}")
        return done.stdout.splitlines()

    def session(self):
        """A psql that takes statements and prints what they return."""
        command = self.client("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", USER)
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True, **self.options)

    def stop(self):
        """A fast shutdown: sessions are ended, a checkpoint is made."""
        return self.server.stop(signal.SIGINT)

    def abandon(self):
        """An immediate shutdown: nothing more is written."""
        self.server.stop(signal.SIGQUIT)


def text_of(number):
    return f"text of row {number} " + "x" * (number * 37 % 300)


def insert(session, number):
    """Returns once the row is committed. Raises Failed, or OSError, when the server is gone."""
    session.stdin.write(f"insert into rows values({number}, '{text_of(number)}') returning 'row ' || n;\n")
    session.stdin.flush()
    answer = session.stdout.readline()
    if answer != f"row {number}\n":
        raise Failed(f"the commit of row {number} was answered by '{answer}'")


def missing_rows(postgres, numbers):
    """Those of the numbers that have no row or a wrong one."""
    found = dict(line.split("|", 1) for line in postgres.ask("select n, text from rows"))
    return [number for number in numbers if found.get(str(number)) != text_of(number)]


TABLE = "create table rows(n integer primary key, text text)"


def create(side):
    create_cluster("data")
    postgres = Postgres(os.path.abspath("data"), side, QUIET)
    with postgres.server:
        postgres.ask(TABLE)
        postgres.stop()


def put(side, count, fsync="on"):
    postgres = Postgres(os.path.abspath("data"), side, (*QUIET, f"fsync={fsync}"))
    with postgres.server:
        session = postgres.session()
        for number in range(1, int(count) + 1):
            insert(session, number)
            print(f"row {number}", flush=True)
        postgres.abandon()
        session.communicate()


def check(side, promises):
    promised = [line.split()[1] for line in Path(promises).read_text().splitlines() if line.startswith("row ")]
    postgres = Postgres(os.path.abspath("data"), side, QUIET)
    with postgres.server:
        missing = missing_rows(postgres, [int(number) for number in promised])
        postgres.abandon()
    if missing:
        sys.exit(f"committed rows are missing: {missing}")


if __name__ == "__main__":
    acts.run("postgres", __doc__, Failed, create, put, check)
