#!/usr/bin/env python3
"""Scripts of everything the journal can do survive every kill and power loss.

The short ones belong to ./check; all of them, at depth 2, run with --full or TORNFS_FULL=1."""

from journal_case import JournalCase, tornfs

RECOVER = "journal recover --dir j {without}"
FAULTS = ("--faults", "kill,power", "--depth", "2")

# What to run, in the shell, with four records on standard input.
SCRIPTS = {
    "append": "journal append --dir j {without}",
    "batch": "journal append --dir j --group 2 {without}",
    "certify": "journal append --dir j --group 4 {without} && journal certify --dir j --view 3 {without}",
    "checkpoint": "journal append --dir j --group 4 {without} && journal checkpoint --dir j --op 2 {without}",
    "checkpoint with a buffered tail": "journal append --dir j --group 3 --checkpoint 2 {without}",
    "truncate": (
        "journal append --dir j --group 4 {without} && journal truncate --dir j --from 3 {without}"
        " && echo again | journal append --dir j {without}"
    ),
    "purge": "journal append --dir j --group 4 {without} && journal purge --dir j --generation 1 {without}",
    "rotate segments": (
        "journal segments --dir j --max-size 300 {without}"
        " && journal append --dir j --group 2 {without}"
    ),
    "truncate segments": (
        "journal segments --dir j --max-size 300 {without} && journal append --dir j --group 4 {without}"
        " && journal truncate --dir j --from 2 {without} && echo again | journal append --dir j {without}"
    ),
    "purge segments": (
        "journal segments --dir j --max-size 600 {without} && journal append --dir j --group 4 {without}"
        " && journal purge --dir j --generation 1 {without} && echo new | journal append --dir j {without}"
    ),
    "enable segments": (
        "journal append --messages --dir j --group 4 {without}"
        " && journal segments --dir j --max-size 600 {without}"
    ),
    "references": "journal append --referenced --dir j --group 2 {without}",
    "reset": "journal append --dir j --group 4 {without} && journal reset --dir j --op 7 {without}",
    "backup": "journal append --dir j --group 4 {without} && journal backup --dir j --to b {without}",
    "restore": (
        "journal append --dir j --group 4 {without} && journal backup --dir j --to b {without}"
        " && echo late | journal append --dir j {without} && journal restore --dir j --from b {without}"
    ),
}

# Those that ./check has the time for, with one crash each.
SHORT = ("certify", "checkpoint with a buffered tail", "purge", "rotate segments", "references")


class Scripts(JournalCase):
    def explore_script(self, name, *options, rule=None, recover=RECOVER):
        return self.explore_journal(
            *options,
            workload=SCRIPTS[name],
            recover=recover,
            input=tornfs.records(4),
            rule=rule,
        )

    def test_no_crash_breaks_a_promise(self):
        full = tornfs.full()
        for name in SCRIPTS if full else SHORT:
            for tear in ("sector", "byte") if full else ("sector",):
                with self.subTest(script=name, tear=tear):
                    options = FAULTS if full else ("--faults", "power")
                    self.assert_clean(self.explore_script(name, "--tear", tear, *options))


if __name__ == "__main__":
    tornfs.main()
