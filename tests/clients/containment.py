#!/usr/bin/env python3
"""What programs under test do around their world: sync the whole machine, write elsewhere, leave files
in /tmp, take their world away, start daemons, hang, say strange things."""

import json
import os
import stat
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

ROOT = os.geteuid() == 0
PYTHON = [sys.executable, "-S", "-E", "-B"]
# sync(2) is in the library as it is; syncfs(2) by its name.
SYNCFS = ("import ctypes, os; f = open('f', 'w'); f.write('x'); f.flush();"
          "d = os.open('.', os.O_RDONLY); assert ctypes.CDLL(None).syncfs(d) == 0; print('saved')")
SAVED = "sh -c 'grep -q saved {promises} || exit 0; grep -q x f || { echo f is lost; exit 1; }'"


class Containment(tornfs.Case):
    def summary(self, *options, workload, status=0, **more):
        return self.must("tornfs", "explore", "--out", self.folder / "out", *options, "--", *workload,
                         status=status, **more)

    def pipe(self, name):
        """Not below /tmp: programs under test have one of their own."""
        folder = Path(tornfs.tempfile.mkdtemp(prefix="tornfs-test-", dir="/var/tmp"))
        self.addCleanup(tornfs.shutil.rmtree, folder)
        os.mkfifo(folder / name)
        return folder / name

    def stats(self, out="out"):
        return json.loads((self.folder / out / "stats.json").read_text())


@tornfs.unittest.skipUnless(ROOT, "needs root")
class Syncs(Containment):
    def test_sync_is_a_barrier(self):
        for sync in ("sync", "sync -f f"):
            with self.subTest(sync=sync):
                result = self.explore("--check", SAVED, "--faults", "kill,power",
                                      workload=["sh", "-c", f"echo x > f; {sync}; echo saved"])
                self.assert_clean(result)
                self.assertTrue(result.stats["syncs_seen"])

    def test_syncfs_is_a_barrier(self):
        self.assert_clean(self.explore("--check", SAVED, workload=[*PYTHON, "-c", SYNCFS]))
        events = (self.folder / "out" / "events.jsonl").read_text()
        self.assertIn('"kind":"syncfs"', events)

    def test_without_it_the_file_is_lost(self):
        self.assert_found(self.explore("--check", SAVED, workload=["sh", "-c", "echo x > f; echo saved"]))

    def test_syncs_of_others_are_none_of_ours(self):
        """A sync by a process that is no child of the explorer, while the workload waits."""
        ready, go = self.pipe("ready"), self.pipe("go")
        explorer = self.start(
            "tornfs", "explore", "--json", "--out", self.folder / "out", "--check", SAVED, "--", "sh", "-c",
            f"echo x > f; echo > {ready}; read line < {go}; echo saved", stdout=tornfs.subprocess.PIPE)
        ready.read_text()
        os.sync()
        go.write_text("now\n")
        stats = json.loads(explorer.communicate(timeout=60)[0])
        self.assertEqual(explorer.returncode, 1)
        self.assertTrue(stats["syncs_seen"])

    def test_a_sync_in_recovery_is_a_crash_point_of_it(self):
        recover = "sh -c '[ -e f ] || exit 0; echo y > g; sync; echo more'"
        check = "sh -c 'grep -q more {promises} || exit 0; grep -q y g || { echo g is lost; exit 1; }'"
        self.assert_clean(self.explore("--recover", recover, "--check", check, "--depth", "2",
                                       workload=["sh", "-c", "echo x > f; sync"]))

    def test_run_stops_at_a_sync(self):
        result = self.must("tornfs", "run", "--crash-at", "before syncfs", "--lose", "all", "--then", "test -s f",
                           "--", "sh", "-c", "echo x > f; sync", status=1)
        self.assertIn("syncfs", result.err)
        self.must("tornfs", "run", "--crash-at", "end", "--lose", "all", "--then", "test -s f",
                  "--", "sh", "-c", "echo x > f; sync")

    def test_doctor_says_so(self):
        self.assertTrue(json.loads(self.must("tornfs", "doctor", "--json").out)["sync"]["ok"])

    def test_the_note_stands_where_it_applies(self):
        self.assertNotIn("syncfs(2)", self.summary("--check", "true", workload=["touch", "f"]).out)


@tornfs.unittest.skipUnless(ROOT, "needs root")
class Outside(Containment):
    def test_an_attempt_to_write_elsewhere_is_reported(self):
        elsewhere = "/usr/tornfs-test-elsewhere"
        tries = f"echo x 2>/dev/null > {elsewhere}; mkdir {elsewhere}.d 2>/dev/null; rm -f /etc/passwd; touch f"
        done = self.summary("--check", "true", workload=["sh", "-c", tries])
        self.assertIn("tried to change /etc/passwd and 2 other paths outside the world", done.out)
        self.assertEqual(self.stats()["outside_writes"], ["/etc/passwd", elsewhere, elsewhere + ".d"])
        self.assertTrue(os.path.exists("/etc/passwd"))

    def test_the_check_is_watched_as_well(self):
        self.summary("--check", "sh -c 'touch /usr/tornfs-test-check 2>/dev/null; true'", workload=["touch", "f"])
        self.assertEqual(self.stats()["outside_writes"], ["/usr/tornfs-test-check"])

    def test_nothing_is_reported_of_those_who_only_look(self):
        looks = ("cat /etc/passwd > /dev/null; ls /usr >&2; mkdir -p /usr/bin; echo x > /tmp/own; rm /tmp/own;"
                 "mkdir d; cd d; echo x > ../f; rm -f /usr/no-such-thing")
        done = self.summary("--check", "true", workload=["sh", "-c", looks])
        self.assertEqual(self.stats()["outside_writes"], [])
        self.assertNotIn("outside the world", done.out)

    def test_no_run_finds_what_another_left(self):
        for folder in ("/tmp", "/dev/shm"):
            with self.subTest(folder=folder):
                left = f"{folder}/tornfs-test-left"
                check = f"sh -c '[ ! -e {left} ] || {{ echo somebody was here; exit 1; }}; echo x > {left}'"
                result = self.explore("--check", check, "--at", self.world(folder),
                                      workload=["sh", "-c", f"for i in 1 2 3; do echo x > $i; sync $i; done; touch {left}"])
                self.assert_clean(result)
                self.assertTrue(result.stats["left_in_tmp"])
                self.assertFalse(os.path.exists(left))

    def test_process_ids_tell_no_runs_apart(self):
        check = "sh -c 'echo $$ > pid.$$; sh -c \"echo \\$\\$ > child\"; cat f >&2; true'"
        result = self.explore("--check", check, "--jobs", "2",
                              workload=["sh", "-c", "for i in 1 2 3; do echo x > $i; sync $i; done; echo x > f"])
        self.assert_clean(result)
        self.assertIn("complete", result.stats["coverage"])

    def world(self, folder):
        """A world below /tmp is carried over when /tmp is renewed."""
        world = self.folder / "world" if folder == "/tmp" else Path("/run/tornfs-world")
        world.mkdir(exist_ok=True)
        return world

    def test_nothing_of_the_machine_is_gone_from_tmp(self):
        (self.folder / "given").write_text("x")
        check = f"sh -c 'rm {self.folder}/given'"
        self.assert_clean(self.explore("--check", check, workload=["sh", "-c", "echo x > f; sync f; echo x > g"]))
        self.assertTrue((self.folder / "given").exists())

    def test_no_program_takes_its_world_away(self):
        for how in ("umount -l {mount}", "mount -t tmpfs none {mount}", "mount --move {mount} /mnt"):
            with self.subTest(how=how):
                check = f"sh -c 'cd /; {how} 2>/dev/null; test -e {{mount}}/f || test ! -s {{promises}}'"
                self.assert_clean(self.explore(
                    "--check", check, workload=["sh", "-c", "echo x > f; sync f; sync .; echo saved"]))
                bad = f"sh -c 'cd /; {how} 2>/dev/null && exit 1; exit 0'"
                self.assert_clean(self.explore("--check", bad, workload=["touch", "f"]))


class Folders(Containment):
    def test_one_folder_is_for_one_exploration(self):
        ready = self.pipe("ready")
        hold = self.start("tornfs", "explore", "--out", self.folder / "out", "--check", "true", "--",
                          "sh", "-c", f"echo > {ready}; read line; touch f", stdin=tornfs.subprocess.PIPE,
                          stdout=tornfs.subprocess.PIPE)
        ready.read_text()
        other = self.summary("--check", "true", "--at", self.folder / "w", workload=["touch", "f"], status=2)
        self.assertEqual(len(other.err.splitlines()), 1)
        self.assertIn("in use by another exploration", other.err)
        hold.communicate(b"\n", timeout=60)
        self.assertEqual(hold.returncode, 0)
        self.summary("--check", "true", workload=["touch", "f"])

    def test_a_folder_of_somebody_else_keeps_everything(self):
        for held in ({"trace": "mine"}, {"stats.json": "{}"}, {"findings/notes": "mine"}, {"notes": "mine"},
                     {"trace": "mine", "findings/f-000000000000/x": "mine"}):
            with self.subTest(held=held):
                folder = self.folder / "out"
                for name, text in held.items():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_text(text)
                before = sorted(folder.rglob("*"))
                refused = self.summary("--check", "true", workload=["touch", "f"], status=2)
                self.assertIn("holds other things", refused.err)
                self.assertEqual(sorted(folder.rglob("*")), before)
                tornfs.shutil.rmtree(folder)
        (self.folder / "out").write_text("a file")
        self.assertIn("not a directory", self.summary("--check", "true", workload=["true"], status=2).err)


class Results(Containment):
    def test_a_lost_result_is_no_success(self):
        command = f"tornfs explore --out {self.folder}/out --check true -- touch f"
        closed = self.must("sh", "-c", command + " >&-", status=3)
        self.assertIn("standard output is closed", closed.err)
        full = self.must("sh", "-c", command + " > /dev/full", status=3)
        self.assertIn("could not be written", full.err.splitlines()[-1])

    def test_nobody_reads_the_result(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = self.start("tornfs", "explore", "--out", self.folder / "out", "--check", "true", "--", "touch", "f",
                          stdout=writer, stderr=tornfs.subprocess.PIPE, text=True)
        os.close(writer)
        _, err = done.communicate(timeout=60)
        self.assertEqual(done.returncode, 3, err)
        self.assertIn("could not be written", err.splitlines()[-1])

    def test_every_number_of_workers_says_the_same(self):
        """Two power losses in a row, violations among them."""
        found = {}
        for jobs in ("1", "2"):
            for promised in ("", "! grep -q a {promises} || "):  # Clean, and not.
                check = f"sh -c '{promised}[ -s a ] || [ -s d ]'" if promised else "sh -c '[ ! -s b ]'"
                self.run_program("tornfs", "explore", "--out", self.folder / "out", "--jobs", jobs, "--depth", "2",
                                 "--recover", "sh -c 'echo 1 > b; sync b; rm -f b'", "--check", check, "--",
                                 "sh", "-c", "echo 1 > a; echo a; sync a; mv a d; sync .; echo d")
                stats = self.stats()
                del stats["timing"]
                self.assertGreater(stats["states"], 20)
                events = (self.folder / "out" / "events.jsonl").read_text()
                self.assertEqual(stats["exit_code"], 1 if promised else 0)
                self.assertEqual(found.setdefault(check, (stats, events)), (stats, events))

    def test_more_kinds_than_are_written_up(self):
        """Every state is a kind of its own: which of them are written up depends on nothing."""
        workload = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do "
                    "echo $i$j > f; sync f; done; done; echo > ok; sync ok"]
        check = "sh -c '[ -e ok ] || [ ! -e f ] || { tr 0-9 a-j < f; exit 1; }'"
        kinds = []
        for jobs in ("1", "2"):
            result = self.explore("--check", check, "--jobs", jobs, "--crash-points", "all", workload=workload)
            self.assertEqual(result.status, 1)
            self.assertEqual(len(result.stats["findings"]), 64)
            self.assertGreater(result.stats["more_kinds"], 10)
            del result.stats["timing"]
            kinds.append(result.stats)
        self.assertEqual(*kinds)

    def test_all_crash_points_of_recovery_as_well(self):
        states = []
        for points in ("needed", "all"):
            result = self.explore("--depth", "2", "--crash-points", points, "--check", "true",
                                  "--recover", "sh -c 'echo 1 > a; echo 2 > b; echo 3 > c'", workload=["true"])
            states.append(result.stats["windows"])
        self.assertGreater(states[1], states[0] + 5)


class Odd(Containment):
    def test_daemons_closed_outputs_and_signals(self):
        for what, workload, status, promises in (
                ("a daemon", "echo a > f; sync f; echo saved; setsid sleep 1000 &", 0, 1),
                ("no output", "exec >&-; echo a > f; sync f", 0, 0),
                ("no newline", "echo a > f; sync f; printf saved", 0, 0),
                ("a long line", "head -c 1000000 /dev/zero | tr '\\0' x; echo", 0, 1),
                ("nothing", ":", 0, 0),
                ("a signal", "echo a > f; kill -9 $$", 3, None),
        ):
            with self.subTest(what=what):
                done = self.run_program("tornfs", "explore", "--json", "--out", self.folder / "out", "--check", "true",
                                        "--", "sh", "-c", workload)
                self.assertEqual(done.status, status, str(done))
                if promises is not None:
                    self.assertEqual(json.loads(done.out)["promises"], promises)
                self.assertEqual(self.leftovers(), [])

    def test_a_check_that_hangs(self):
        result = self.explore("--timeout", "5s", "--check", "sh -c '[ -e g ] || [ ! -e f ] || sleep 1000'",
                              workload=["sh", "-c", "touch f; sync .; touch g; sync ."])
        self.assertEqual(result.status, 1)
        self.assertEqual([finding["title"] for finding in result.stats["findings"]], ["hang"])

    def test_more_workers_than_cores(self):
        self.assert_clean(self.explore("--jobs", "8", "--check", "true", "--faults", "kill,power",
                                       workload=["sh", "-c", "for i in 1 2 3; do echo $i > $i; sync $i; done"]))

    def test_a_budget_that_ends_first(self):
        done = self.summary("--budget", "1s", "--check", "sleep 0.2", "--depth", "2", "--faults", "kill,power",
                            "--recover", "sh -c 'echo x > a; sync a; echo y > b'", status=3,
                            workload=["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo $i > $i; sync $i; done"])
        self.assertIn("the budget ended first", done.out)


class Repro(Containment):
    def script(self, *options, workload, **more):
        """The findings of an exploration; each script must fail as its finding does."""
        findings = self.assert_found(self.explore(*options, workload=workload, **more), times=1)
        for finding in findings:
            folder = self.folder / "out" / "findings" / finding["id"]
            done = self.run_program("sh", folder / "repro.sh", cwd="/")
            self.assertIn(finding["title"], done.out + done.err, str(done))
            expected = 1 if finding["phase"] == "recovery" else finding["status"]
            self.assertEqual(done.status, expected, str(done))
        return findings

    def test_odd_names(self):
        odd = self.folder / "it's \"here\" $x\n&"
        (odd / "sub dir").mkdir(parents=True)
        script = odd / "sub dir" / "c.sh"
        script.write_text("#!/bin/sh\n[ \"$TORNFS_SEED\" = 7 ] || exit 9\n[ -s \"$1\" ] || exit 0\n"
                          "[ \"$FOO\" != a/b ] || [ -s f ] || { echo lost \"$2\"; exit 1; }\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        for check in ('FOO=a/b "sub dir/c.sh" {promises} "it\'s $HOME"',
                      "FOO=a/b sub\\ dir/c.sh {promises} 'a  b'",
                      "FOO='a/b' 'sub dir/c.sh' \"{promises}\" x; exit $?"):
            with self.subTest(check=check):
                self.script("--seed", "7", "--check", check, workload=["sh", "-c", "echo x > f; echo saved"], cwd=odd)

    def test_recovery_and_its_promises(self):
        self.script("--recover", "sh -c 'cat f 2>/dev/null; echo \"kept  this\"; printf unfinished'",
                    "--check", "sh -c 'grep -q unfinished {promises} && exit 9; grep -q \"kept  this\" {promises} "
                    "|| exit 8; grep -q saved {promises} || exit 0; [ -s f ] || { echo lost; exit 5; }'",
                    workload=["sh", "-c", "echo x > f; echo saved"])
        self.script("--recover", "sh -c '[ -s f ] || [ ! -e f ] || { echo empty; exit 3; }'",
                    workload=["sh", "-c", "echo x > f; sync f"])


class Refused(Containment):
    def test_unknown_user(self):
        refused = self.summary("--check", "true", "--user", "no-such-user", workload=["true"], status=2)
        self.assertEqual(len(refused.err.splitlines()), 1)
        self.assertIn("no such user", refused.err)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    tornfs.main()
