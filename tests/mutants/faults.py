#!/usr/bin/env python3
"""Each call of each script fails in turn, on a real mount: whatever the program had acknowledged by then is
there for the next one, with and without a power loss in between.

Short writes are carried on by the program; after a failed barrier the data is as ext4 leaves it: readable, and
never written again. ./check has the time for one script; all of them run with --full or TORNFS_FULL=1."""

import json

from scripts import SCRIPTS, JournalCase, tornfs

AFTERWARDS = "journal recover --dir j && journal verify --dir j --promises {promises}"
EFFECTS = ("fail:EIO op by journal", "fail:ENOSPC op by journal", "short:100 write by journal")
ENDINGS = ((), ("--crash-at", "end", "--lose", "all"))
SHORT = ("restore",)
# No script makes so many calls.
CALLS_MOST = 400


class Faults(JournalCase):
    def fail_call(self, script, fault, ending):
        """Runs a script with one call failing. Whether the call was reached."""
        command = SCRIPTS[script].format(without="")
        result = self.run_program(
            "tornfs", "run", "--json", *ending, "--fault", fault, "--then", AFTERWARDS, "--", "sh", "-c", command,
            input=tornfs.records(4),
        )
        outcome = json.loads(result.err.splitlines()[-1])
        self.assertEqual(outcome.get("then_status"), 0, str(result))
        return outcome["faults"]["injected"] > 0

    def test_no_failing_call_breaks_a_promise(self):
        full = tornfs.full()
        for script in SCRIPTS if full else SHORT:
            for effect in EFFECTS if full else EFFECTS[:1]:
                for ending in ENDINGS if full else ENDINGS[1:]:
                    with self.subTest(script=script, effect=effect, ending=ending):
                        calls = 1
                        while self.fail_call(script, f"{effect} #{calls}", ending):
                            calls += 1
                            self.assertLess(calls, CALLS_MOST)
                        self.assertGreater(calls, 4)
                        if full:
                            print(f"{script}, {effect}, {' '.join(ending)}: {calls - 1} calls", flush=True)


if __name__ == "__main__":
    tornfs.main()
