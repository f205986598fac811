#!/usr/bin/env python3
"""Scripts of everything the journal can do survive every kill and power loss.

The short ones belong to ./check; all of them, at depth 2, run with --full or TORNFS_FULL=1."""

from journal_case import JournalCase, tornfs

RECOVER = "journal recover --dir j {without}"
FAULTS = ("--faults", "kill,power", "--depth", "2")
# Seconds for one exploration: the longest needs a minute on an idle machine.
PATIENCE = 3600

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


# The weakest first: what survives under one of these survives under the others, unless a recovery
# leans on what only one of them does.
MODELS = ("posix-minimal", "posix", "ext4", "xfs", "btrfs")


class Scripts(JournalCase):
    def assert_survives(self, name, *options, model="posix"):
        result = self.explore_journal(
            *options,
            workload=SCRIPTS[name],
            recover=RECOVER,
            input=tornfs.records(4),
            model=model,
            timeout=PATIENCE,
        )
        self.assert_clean(result)
        return result.stats

    def test_no_crash_breaks_a_promise(self):
        for name in SHORT:
            with self.subTest(script=name):
                self.assert_survives(name, "--tear", "sector", "--faults", "power")

    def survive_deeply(self, model):
        if not tornfs.full():
            self.skipTest("long: --full")
        for tear in ("sector", "byte"):
            for name in SCRIPTS:
                with self.subTest(script=name, tear=tear):
                    stats = self.assert_survives(name, "--tear", tear, *FAULTS, model=model)
                    print(f"{model}, {name}, {tear}: {stats['states']} states, {stats['timing']['runs']} runs, "
                          f"{stats['coverage']}", flush=True)


def deeply(model):
    return lambda case: case.survive_deeply(model)


for each in MODELS:
    setattr(Scripts, "test_two_crashes_under_" + each.replace("-", "_"), deeply(each))


if __name__ == "__main__":
    tornfs.main()
