"""Programs at work when the power goes: what they had acknowledged is noted outside the mount."""

import itertools
import os
import subprocess

import tornfs
from server import Failed

# A crash that was asked for comes long before so many.
MOST = 1_000_000


class Survival(tornfs.Case):
    """A test whose programs work on a mount that loses power."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o711)  # Servers that refuse root work as a user of their own.
        self._servers = []
        self.addCleanup(self._end_servers)

    def ends_with_test(self, server):
        """Has the server end with the test. A power loss that kills waits for its end."""
        self._servers.append(server)

    def _end_servers(self):
        for server in self._servers:
            server.kill()

    def crash(self, point):
        """All that is not durable goes, and every process that uses the mount."""
        self.must("tornfs", "crash", point, "--lose", "all", "--kill")
        self._await_servers()

    def _await_servers(self):
        for server in self._servers:
            server.process.wait(timeout=60)

    def crash_at_work(self, point, put, first=1, enough=50):
        """Calls put(number) for number after number, cuts the power once `enough` were acknowledged, and
        goes on until put raises because whoever acknowledged is gone. Returns the acknowledged ones."""
        acknowledged = []
        crash = None
        for number in itertools.count(first):
            self.assertLess(number, first + MOST, "the crash never came")
            self.assertFalse(crash and crash.poll(), "the crash failed")
            try:
                put(number)
            except (Failed, OSError):
                break
            acknowledged.append(number)
            if len(acknowledged) == enough:
                crash = self.start("tornfs", "crash", point, "--lose", "all", "--kill",
                                   stdout=subprocess.DEVNULL)
        self.assertGreaterEqual(len(acknowledged), enough)
        self.assertEqual(crash.wait(timeout=120), 0)
        self._await_servers()
        return acknowledged

    def lines_until_crash(self, point, program, enough=50):
        """The same for a program on the mount that prints a line, on a pipe of text, for each thing done."""
        lines = []

        def put(_):
            line = program.stdout.readline()
            if not line.endswith("\n"):
                raise Failed("the program is gone")
            lines.append(line)

        self.crash_at_work(point, put, enough=enough)
        program.wait(timeout=60)
        return lines
