#!/usr/bin/env python3
"""An etcd server on a mount: its own check of a data set, and every acknowledged put after a power loss at
work."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import survival  # noqa: E402
import tornfs  # noqa: E402
from server import Failed, Server  # noqa: E402

# Names of sockets in the folder of the test. etcd wants a port number in them all the same.
CLIENT = "unix://client:0"
PEER = "unix://peer:0"
NAMED = "http://localhost:1"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Etcd(survival.Survival):
    def setUp(self):
        super().setUp()
        self.need("etcd", "etcdctl")
        self.environment["ETCDCTL_API"] = "3"
        self.point = self.mount()

    def server(self, *options, clients=CLIENT):
        for name in ("client:0", "peer:0"):
            (self.folder / name).unlink(missing_ok=True)
        server = Server(
            ["etcd", "--data-dir", self.point / "data", "--listen-client-urls", clients, "--advertise-client-urls",
             CLIENT, "--listen-peer-urls", PEER, "--initial-advertise-peer-urls", NAMED, "--initial-cluster",
             f"default={NAMED}", *options],
            self.folder / "etcd.log", cwd=self.folder, env=self.environment)
        self.ends_with_test(server)
        return server

    def command(self, *arguments, endpoint=CLIENT):
        return ["etcdctl", "--endpoints", endpoint, "--command-timeout", "300s", "--dial-timeout", "300s", *arguments]

    def etcdctl(self, *arguments, **options):
        return self.must(*self.command(*arguments, **options))

    def put(self, server, number):
        with subprocess.Popen(self.command("put", f"key {number}", f"value {number}"), cwd=self.folder, text=True,
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
            if not server.outlives(client):
                client.kill()
            if client.stdout.read() != "OK\n":
                raise Failed(f"put {number} was not acknowledged")

    def missing(self, numbers):
        lines = self.etcdctl("get", "--prefix", "key ").out.splitlines()
        found = dict(zip(lines[::2], lines[1::2]))
        return [number for number in numbers if found.get(f"key {number}") != f"value {number}"]

    def test_every_acknowledged_put(self):
        # Logs and snapshots of a few entries, so that there are many.
        options = ("--snapshot-count", "20")
        server = self.server(*options)
        self.must("tornfs", "sync", self.point)
        acknowledged = []
        for _ in range(2):
            acknowledged += self.crash_at_work(self.point, lambda number: self.put(server, number),
                                               first=len(acknowledged) + 1, enough=50)
            server = self.server(*options)
            self.assertEqual(self.missing(acknowledged), [])
        self.assertEqual(server.stop(), -signal.SIGTERM)

    def test_where_barriers_lie_puts_are_lost(self):
        # etcd 3.4 cannot be told to leave them out.
        server = self.server()
        self.must("tornfs", "sync", self.point)
        for barrier in ("fsync", "fdatasync"):
            self.must("tornfs", "fault", self.point, f"lie {barrier}")
        acknowledged = self.crash_at_work(self.point, lambda number: self.put(server, number), enough=10)
        self.must("tornfs", "fault", self.point, "--clear")
        again = self.server()
        self.assertEqual(self.missing(acknowledged), acknowledged)
        self.assertEqual(again.stop(), -signal.SIGTERM)

    def test_its_own_work(self):
        port = f"http://127.0.0.1:{free_port()}"
        server = self.server(clients=f"{CLIENT},{port}")
        self.must("tornfs", "sync", self.point)
        for number in range(1, 21):
            self.put(server, number)
        self.etcdctl("check", "datascale", "--load", "s", "--prefix", "scale/", endpoint=port)
        status = json.loads(self.etcdctl("endpoint", "status", "-w", "json").out)
        self.etcdctl("compact", str(status[0]["Status"]["header"]["revision"]))
        self.etcdctl("defrag")
        self.etcdctl("snapshot", "save", self.point / "snapshot")
        self.must("sync", self.point)  # Of the name, which etcdctl leaves to others.
        digest = self.etcdctl("endpoint", "hashkv").out
        self.crash(self.point)
        again = self.server()
        self.assertEqual(self.etcdctl("endpoint", "hashkv").out, digest)
        self.assertEqual(self.missing(range(1, 21)), [])
        self.must("etcdctl", "snapshot", "status", self.point / "snapshot")
        self.assertEqual(again.stop(), -signal.SIGTERM)


if __name__ == "__main__":
    tornfs.main()
