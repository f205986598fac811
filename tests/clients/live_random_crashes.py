#!/usr/bin/env python3
"""The journal on a mount that loses power at random operations, with random survivors: nothing
acknowledged is lost, nothing is refused, nothing appears that was never written. Without the barrier
on its records the same crashes show losses.

40 crashes; 300 with --full or TORNFS_FULL=1.
"""

import json
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

RECORDS = 60
MUTANT = "sync-records-before-publish"
ACK = re.compile(r"^ack (\d+) ([0-9a-f]{16})$", re.MULTILINE)


class Crash:
    """What one run said."""

    def __init__(self, result):
        self.result = result
        self.report = json.loads(result.err.splitlines()[-1])
        self.crash = self.report["crash"]
        self.acknowledged = [int(op) for op, _ in ACK.findall(result.out)]


class LiveRandomCrashes(tornfs.Case):
    runs = 300 if tornfs.full() else 40

    def setUp(self):
        super().setUp()
        self.lines = [f"record {number} " + "x" * (number * 97 % 3000) for number in range(1, RECORDS + 1)]
        self.input = "".join(line + "\n" for line in self.lines)

    def ops_of_a_run(self, without):
        """How many ops the append makes when no crash stops it."""
        result = self.must(
            "tornfs", "run", "--json", "--crash-at", "end", "--lose", "none",
            "--", "journal", "append", "--dir", "j", "--group", "4", *without, input=self.input)
        return json.loads(result.err.splitlines()[-1])["crash"]["ops"]

    def crash(self, op, seed, without=()):
        back = self.folder / "back"
        back.unlink(missing_ok=True)
        result = self.run_program(
            "tornfs", "run", "--json",
            "--crash-at", f"during op #{op}",
            "--lose", "random", "--seed", seed, "--tear", "sector",
            "--then",
            "journal recover --dir j > recovered && "
            "journal verify --dir j --promises {promises} && "
            f"journal read --dir j > {back}",
            "--", "journal", "append", "--dir", "j", "--group", "4", *without,
            input=self.input)
        crash = Crash(result)
        crash.back = back.read_text().splitlines() if back.exists() else []
        return crash

    def crashes(self, without=()):
        """The same seeds whatever the journal does without."""
        ops = self.ops_of_a_run(without)
        self.assertGreater(ops, RECORDS // 2)
        rng = random.Random(2024)
        for _ in range(self.runs):
            yield self.crash(rng.randint(1, ops), rng.getrandbits(32), without)

    def test_nothing_acknowledged_is_lost(self):
        pending = 0
        lost = 0
        for crash in self.crashes():
            text = f"{crash.crash['text']}\n{crash.result}"
            self.assertEqual(crash.result.status, 0, text)
            self.assertEqual(crash.report["then_status"], 0, text)
            # Everything acknowledged is there, and all that is there was written, in order.
            self.assertGreaterEqual(len(crash.back), max(crash.acknowledged, default=0), text)
            self.assertEqual(crash.back, self.lines[:len(crash.back)], text)
            pending += crash.crash["pending"] > 0
            lost += crash.crash["lost"] > 0
        print(f"{self.runs} crashes, {pending} with pending effects, {lost} that lost some")
        self.assertGreaterEqual(pending, self.runs * 0.8)

    def test_without_the_barrier_on_records_some_are_lost(self):
        broken = sum(crash.report["then_status"] != 0
                     for crash in self.crashes(("--without", MUTANT)))
        print(f"{broken} of {self.runs} crashes broke a promise or the journal")
        self.assertGreaterEqual(broken, 10 if self.runs >= 300 else 2)


if __name__ == "__main__":
    tornfs.main()
