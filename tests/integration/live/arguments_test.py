"""Whatever is wrong with a command line is said in one line, with the documented exit code."""

import os

from live_case import LiveCase, main


class Arguments(LiveCase):
    def test_words(self):
        self.fails(2, "no command", *[])
        self.fails(2, "unknown command 'mout'", "mout")
        self.fails(2, "--leave", "crash", self.mnt, "--leave")
        self.fails(2, "missing argument MNT", "mount")
        self.fails(2, "unexpected argument", "status", self.mnt, "more")
        self.fails(2, "missing argument TRIGGER", "arm", self.mnt)
        self.fails(2, "needs a command", "run")
        self.fails(2, "neither show nor diff", "models", "list")

    def test_values(self):
        self.fails(2, "unknown model 'ext9'", "mount", self.mnt, "--model", "ext9")
        self.fails(2, "unknown model 'ext9'", "run", "--model", "ext9", "--", "true")
        self.fails(2, "unknown model 'ext9'", "models", "show", "ext9")
        self.fails(2, "MiB", "mount", self.mnt, "--memory-limit", "10MB")
        self.fails(2, "not a directory", "mount", self.mnt, "--import", "/etc/passwd")
        self.fails(2, "cannot pin", "mount", self.mnt, "--pin", "4096")
        self.fails(2, "cannot lose 'some'", "crash", self.mnt, "--lose", "some")
        self.fails(2, "unknown tearing", "crash", self.mnt, "--tear", "bits")
        self.fails(2, "number", "crash", self.mnt, "--seed", "x")
        self.fails(2, "leave out --lose", "crash", self.mnt, "--plan", "1:0", "--lose", "none")
        self.fails(2, "trigger", "arm", self.mnt, "fsync")
        self.fails(2, "unknown operation 'fsink'", "arm", self.mnt, "before fsink")
        self.fails(2, "unknown operation 'fsink'", "run", "--crash-at", "before fsink", "--", "true")
        self.fails(2, "needs --crash-at", "run", "--plan", "1:0", "--", "true")
        self.fails(2, "needs a unit", "run", "--timeout", "30", "--", "true")
        self.fails(2, "--user", "run", "--user", "no-such-user", "--", "true")

    def test_plan_of_run_that_does_not_fit(self):
        self.fails(125, "does not fit", "run", "--crash-at", "end", "--plan", "9:0", "--then", "true",
                   "--", "touch", "a")

    def test_mount_points(self):
        self.fails(2, "does not exist", "mount", self.mnt + "/none")
        self.fails(2, "not a directory", "mount", "/etc/passwd")
        with open(self.path("a"), "w"):
            pass
        self.fails(2, "not empty", "mount", self.mnt)
        os.unlink(self.path("a"))
        self.mount()
        self.fails(2, "already mounted", "mount", self.mnt)

    def test_commands_without_a_daemon(self):
        for command in ("status", "unsynced", "sync", "crash", "disarm", "umount"):
            self.fails(3, "is it mounted?", command, self.mnt)
        self.fails(3, "is it mounted?", "export", self.mnt, self.folder + "/out")
        self.fails(3, "is it mounted?", "arm", self.mnt, "before write")

    def test_export_to_a_full_directory(self):
        self.mount()
        self.fails(2, "empty", "export", self.mnt, self.folder)

    def test_every_command_has_help(self):
        for command in ("mount", "umount", "status", "unsynced", "sync", "export", "crash", "arm",
                        "disarm", "run", "models", "doctor"):
            self.assertIn("Usage: tornfs " + command, self.tornfs(command, "--help").stdout)

    def test_models(self):
        self.assertIn("posix", self.tornfs("models").stdout)
        self.assertEqual(self.json("models", "show", "strict")["name"], "strict")
        self.assertIn("names", self.json("models", "diff", "posix", "lazyfs"))

    def test_doctor(self):
        self.assertTrue(self.json("doctor")["fuse"]["ok"])


if __name__ == "__main__":
    main()
