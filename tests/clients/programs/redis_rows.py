#!/usr/bin/env python3
"""A Redis server in the working directory, with numbered values.

    redis_rows.py create                    starts a server and stops it: its files are there then
    redis_rows.py put COUNT [APPENDFSYNC]   starts a server, stores values, prints `set N` for each, kills it
    redis_rows.py check PROMISES            does a server started here have every `set N` of the file?

APPENDFSYNC is always (the default), everysec or no. The server takes its usual port, so each of them needs a
network of its own, as `tornfs run` and `tornfs explore` give to programs. Its log is in a folder below /tmp.
"""

import os
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import acts  # noqa: E402
from server import Failed, Server  # noqa: E402


PORT = 6379


def value_of(number):
    return f"value {number} ".encode() + b"v" * (number * 37 % 300)


class Redis:
    """A server on a data folder, and a connection to it. The log is in `side`, and the socket without `port`."""

    def __init__(self, data, side, appendfsync="always", options=(), port=None):
        self.address = str(Path(side) / "redis.sock")
        where = ["--bind", "127.0.0.1", "--port", port] if port else ["--port", "0", "--unixsocket", self.address]
        self.server = Server(
            ["redis-server", "--supervised", "systemd", "--dir", data, *where, "--save", "", "--appendonly", "yes",
             "--appendfsync", appendfsync, *options],
            Path(side) / "redis.log", cwd=data)
        self.connection = socket.socket(socket.AF_INET if port else socket.AF_UNIX)
        self.connection.connect(("127.0.0.1", port) if port else self.address)
        self._replies = self.connection.makefile("rb")

    def call(self, *words):
        """One command. Returns what the server said, an array as a list. Raises Failed."""
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self._reply()

    def _reply(self):
        line = self._replies.readline()
        if not line.endswith(b"\r\n"):
            raise Failed("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Failed(rest.decode())
        if kind == b"$":
            return self._replies.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        if kind == b"*":
            return [self._reply() for _ in range(int(rest))]
        return rest

    def put(self, number):
        if self.call("SET", f"key:{number}", value_of(number)) != b"OK":
            raise Failed(f"SET {number} was not acknowledged")

    def missing(self, numbers):
        """Those of the numbers that have no value or a wrong one."""
        return [number for number in numbers if self.call("GET", f"key:{number}") != value_of(number)]

    def close(self):
        self._replies.close()
        self.connection.close()

    def stop(self):
        self.close()
        return self.server.stop()


def create(side):
    redis = Redis(os.getcwd(), side, port=PORT)
    with redis.server:
        if redis.stop() != 0:
            raise Failed("did not stop in order")


def put(side, count, appendfsync="always"):
    redis = Redis(os.getcwd(), side, appendfsync, port=PORT)
    with redis.server:
        for number in range(1, int(count) + 1):
            redis.put(number)
            print(f"set {number}", flush=True)


def check(side, promises):
    promised = [line.split()[1] for line in Path(promises).read_text().splitlines() if line.startswith("set ")]
    redis = Redis(os.getcwd(), side, port=PORT)
    with redis.server:
        missing = redis.missing(int(number) for number in promised)
    if missing:
        sys.exit(f"acknowledged values are missing: {missing}")


if __name__ == "__main__":
    acts.run("redis", __doc__, Failed, create, put, check)
