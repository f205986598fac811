"""Servers under test: started, waited for until they say that they serve, stopped.

Readiness comes by the protocol of sd_notify(3), which Redis (`--supervised systemd`), PostgreSQL and etcd
speak: nothing is polled and no port is tried.
"""

import os
import select
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 60


class Failed(Exception):
    """The server ended or said nothing; the text has the end of what it printed."""


class Server:
    """One process that serves. `log` is the file its output goes to. As a context: killed at the end of it."""

    def __init__(self, command, log, **options):
        """Returns when the server is ready. `options` are those of subprocess.Popen. Raises Failed."""
        self.log = Path(log)
        with tempfile.TemporaryDirectory(prefix="notify-") as folder:
            os.chmod(folder, 0o711)
            address = os.path.join(folder, "socket")
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, self.log.open("ab") as output:
                ready.bind(address)
                os.chmod(address, 0o666)
                environment = dict(options.pop("env", os.environ), NOTIFY_SOCKET=address)
                self.process = subprocess.Popen(
                    [str(word) for word in command], env=environment, stdin=subprocess.DEVNULL, stdout=output,
                    stderr=output, start_new_session=True, **options)
                self._await_ready(ready)

    def _await_ready(self, ready):
        ended = os.pidfd_open(self.process.pid)
        try:
            poll = select.poll()
            poll.register(ready, select.POLLIN)
            poll.register(ended, select.POLLIN)
            while True:
                events = dict(poll.poll(START_SECONDS * 1000))
                if ready.fileno() in events:
                    if b"READY=1" in ready.recv(4096).split(b"\n"):
                        return
                elif ended in events:
                    raise Failed(f"ended with {self.process.wait()}: {self.said()}")
                else:
                    self.kill()
                    raise Failed(f"not ready after {START_SECONDS} s: {self.said()}")
        finally:
            os.close(ended)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def outlives(self, client):
        """Waits until the server or that process, a Popen, has ended. True if the process was the first."""
        ends = [os.pidfd_open(process.pid) for process in (client, self.process)]
        try:
            return ends[0] in select.select(ends, [], [])[0]
        finally:
            for end in ends:
                os.close(end)

    def said(self):
        """The end of what the server printed."""
        return self.log.read_text(errors="replace")[-2000:]

    def stop(self, how=signal.SIGTERM):
        """Asks it to end, waits, and returns its exit status. Raises Failed."""
        self.process.send_signal(how)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"did not stop within {STOP_SECONDS} s: {self.said()}") from None

    def kill(self):
        """Ends it, if it is there, with all that it started in its session."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
