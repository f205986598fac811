#!/usr/bin/env python3
"""Lazy exploration finds exactly the failing states that trying every legal state finds.

A handful of histories under two models; with --full or TORNFS_FULL=1 more than thirty under every
model. Windows with too many states to try them all do not count, and enough must be left."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

from lazy_histories import SHELL, TOOLS, random_history  # noqa: E402

MOST_STATES = 600 if not tornfs.full() else 2000


def failures(stats):
    return {finding["signature"]: finding["states"] for finding in stats["findings"]}


class CrossValidation(tornfs.Case):
    def explore_with(self, history, strategy, *options, remainder=0):
        return self.explore("--strategy", strategy, "--window-states", 65536, *options,
                            *history.arguments(remainder), workload=["sh", "-c", history.workload])

    def remainder(self, history):
        """One for which the check passes before and after the workload."""
        for remainder in history.remainders():
            result = self.run_program(
                "tornfs", "explore", "--strategy", "random", "--window-states", 2, "--jobs", 1,
                "--out", self.folder / "out", *history.arguments(remainder),
                "--", "sh", "-c", history.workload)
            if "so nothing can be said" not in result.err:
                return remainder
        return self.fail(f"{history.name}: no check passes")

    def compare(self, history, *options):
        """Whether the history was small enough, and did both find the same?"""
        with_check = {"remainder": self.remainder(history)}
        lazy = self.explore_with(history, "lazy", "--audit", 20, *options, **with_check).stats
        self.assertEqual(lazy["strategy"], "lazy", lazy["lazy"]["difference"])
        if int(lazy["lazy"]["legal"]) > MOST_STATES:
            return False
        every = self.explore_with(history, "systematic", *options, **with_check).stats
        self.assertEqual(every["windows"], every["windows_tried_whole"])
        self.assertEqual(lazy["windows"], lazy["windows_tried_whole"])
        self.assertEqual(failures(lazy), failures(every))
        self.assertEqual(lazy["states"], every["states"])
        self.assertEqual(int(lazy["lazy"]["legal"]), every["states"])
        self.assertLessEqual(lazy["timing"]["leaves"], lazy["states"])
        return True

    def compare_all(self, histories, least, *options):
        compared = 0
        for model in MODELS if tornfs.full() else MODELS[:1]:
            for history in histories:
                with self.subTest(history=history.name, model=model):
                    compared += self.compare(history, "--model", model, *options)
        self.assertGreaterEqual(compared, least)

    def test_shell_programs(self):
        self.compare_all(SHELL if tornfs.full() else SHELL[::2], 4)

    def test_tools(self):
        self.need("sqlite3")
        self.compare_all(TOOLS if tornfs.full() else TOOLS[1:2], 1)

    def test_sectors(self):
        self.compare_all(TOOLS[1:3], 1, "--tear", "sector")

    def test_random_programs(self):
        count = 30 if tornfs.full() else 3
        self.compare_all([random_history(seed) for seed in range(1, count + 1)], count // 2)

    def test_a_check_that_is_no_function_is_found_out(self):
        """It writes other bytes each time."""
        result = self.explore("--audit", 100, "--check", "head -c 8 /dev/urandom > x; true",
                              workload=["sh", "-c", "echo 1 > a; sync a; echo 2 > b; sync b"])
        self.assert_clean(result)
        self.assertEqual(result.stats["strategy"], "systematic")
        self.assertIn("check: ", result.stats["lazy"]["difference"])
        self.assertIn("going on with --strategy systematic", result.err)
        self.assertEqual(result.stats["windows"], result.stats["windows_tried_whole"])
        self.assertNotIn("complete", result.stats["coverage"])

    def test_kill_and_a_second_crash(self):
        """The signatures are equal; a state whose check fails is gone on from by one of the two."""
        for history in (SHELL[-1], TOOLS[1]):
            with self.subTest(history=history.name):
                options = ("--faults", "kill,power", "--depth", 2)
                lazy = self.explore_with(history, "lazy", "--audit", 20, *options).stats
                every = self.explore_with(history, "systematic", *options).stats
                self.assertEqual(lazy["strategy"], "lazy", lazy["lazy"]["difference"])
                self.assertEqual(set(failures(lazy)), set(failures(every)))


MODELS = ("posix", "lazyfs", "prefix-torn", "strict")


if __name__ == "__main__":
    tornfs.main()
