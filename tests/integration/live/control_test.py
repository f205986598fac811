"""The control socket against those who do not play by the rules."""

import json
import os
import socket
import stat
import unittest

from live_case import NOBODY, LiveCase, main, run_as


class Control(LiveCase):
    def setUp(self):
        super().setUp()
        self.control = os.path.join(self.folder, "control")
        self.mount("--control", self.control)

    def clean_up(self):
        self.tornfs("umount", self.mnt, "--control", self.control, check=False)
        super().clean_up()

    def connect(self):
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        client.connect(self.control)
        return client, client.makefile("r")

    def test_garbage_is_answered(self):
        client, replies = self.connect()
        lines = [b"", b"nonsense", b"[]", b"\xff\xfe", b'{"op": 1}', b'{"id": 7, "op": "explode"}',
                 b'{"id": 8, "op": "crash", "args": []}',
                 b'{"id": 9, "op": "crash", "args": {"lose": 5}}',
                 b'{"id": 10, "op": "crash", "args": {"seed": -1}}',
                 b'{"id": 11, "op": "arm", "args": {}}',
                 b'{"id": 12, "op": "export", "args": {"dir": "relative"}}']
        client.sendall(b"\n".join(lines) + b"\n")
        for line in lines:
            self.assertEqual(json.loads(replies.readline())["error"]["code"], "invalid", line)
        client.sendall(b'{"id": "x", "op": "status"}\n')
        reply = json.loads(replies.readline())
        self.assertEqual((reply["id"], reply["result"]["epoch"]), ("x", 1))

    def test_half_a_line_holds_up_nobody(self):
        client, _ = self.connect()
        client.sendall(b'{"id": 1, "op": "st')
        self.tornfs("status", self.mnt, "--control", self.control)

    def test_a_client_that_leaves_is_forgotten(self):
        for _ in range(40):
            client, _ = self.connect()
            client.sendall(b'{"id": 1, "op": "crash"}\n')
            client.close()
        self.tornfs("status", self.mnt, "--control", self.control)

    def test_mode(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.control).st_mode), 0o600)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_another_user_is_turned_away(self):
        words = ["status", self.mnt, "--control", self.control]
        done = self.start(*run_as(NOBODY), self.tornfs_for_all(), *words)
        self.assertEqual(done.wait(), 3)
        self.assertIn("Permission denied", done.stderr.read())
        os.chmod(self.control, 0o666)  # Then the daemon itself has to refuse.
        done = self.start(*run_as(NOBODY), self.tornfs_for_all(), *words)
        self.assertEqual(done.wait(), 3)


if __name__ == "__main__":
    main()
