#!/usr/bin/env python3
"""200 records in groups of 1, 7 and 64 survive every kill and power loss; without one of four
barriers they do not, and the finding says which file and which call.

The mutants append 63 records in groups of 7; with --full or TORNFS_FULL=1 all of them, in groups of
1 and 64 as well."""

from journal_case import JournalCase, created, tornfs, written

# A log that certifies after its appends; torn at any byte, and the power lost twice.
CERTIFYING = "journal append --dir j --group 7 {without} && journal certify --dir j --view 1 {without}"
TWICE = ("--tear", "byte", "--depth", "2")
WORKLOAD = "journal append --dir j --group {group} {{without}}"
RECOVER = "journal recover --dir j {without}"
RECORDS = 200

RULES = {
    "sync-frontier-at-open": written("j/frontier"),
    "sync-directory-before-frontier": created("j/prepares-0.wal"),
    "sync-records-before-publish": written("j/prepares-0.wal"),
    "sync-frontier-on-publish": written("j/frontier"),
}


class Acceptance(JournalCase):
    def explore_groups_of(self, group, rule=None, records=RECORDS):
        result = self.explore_journal(
            "--faults", "kill,power", "--tear", "sector",
            workload=WORKLOAD.format(group=group),
            recover=RECOVER,
            input=tornfs.records(records),
            rule=rule,
        )
        self.assertEqual(result.stats["promises"], records)
        return result

    def test_no_crash_breaks_a_promise(self):
        for group in (1, 7, 64):
            with self.subTest(group=group):
                result = self.explore_groups_of(group)
                self.assert_clean(result)
                self.assertTrue(result.stats["coverage"].startswith("complete"), result.stats["coverage"])

    def test_a_log_that_is_cut_and_rewritten_survives_two_power_losses(self):
        """Every state that recovery can tell apart, kills and crashes inside recovery included."""
        steps = ("head -n 100 | journal append --dir j --group 7 --checkpoint 50 {without}",
                 "journal truncate --dir j --from 90 {without}",
                 "tail -n 100 records | journal append --dir j --group 7 {without}")
        (self.folder / "import").mkdir()
        (self.folder / "import" / "records").write_text(tornfs.records(RECORDS))
        result = self.explore_journal(
            "--import", str(self.folder / "import"),
            "--faults", "kill,power", "--tear", "sector", "--depth", "2",
            workload=" && ".join(steps), recover=RECOVER, input=tornfs.records(RECORDS))
        self.assert_clean(result)
        self.assertTrue(result.stats["coverage"].startswith("complete"), result.stats["coverage"])

    def test_every_missing_barrier_is_found(self):
        for rule, cause in RULES.items():
            for group in (1, 7, 64) if tornfs.full() else (7,):
                with self.subTest(rule=rule, group=group):
                    findings = self.assert_found(
                        self.explore_groups_of(group, rule, RECORDS if tornfs.full() else 63))
                    self.assert_names(findings, cause)

    def certify(self, recover, rule=None):
        return self.explore_journal(*TWICE, workload=CERTIFYING, recover=recover, rule=rule,
                                    input=tornfs.records(7))

    def test_a_torn_slot_is_repaired_before_anything_else(self):
        """Between two power losses nothing runs but recovery: an append that is cut, which a slot left
        torn turns into a refusal, must be part of it (docs/mutants.md)."""
        append = RECOVER + " && echo more | journal append --dir j {without}"
        for recover in (RECOVER, append):
            self.assert_clean(self.certify(recover))
        rule = "republish-damaged-slot"
        self.assert_names(self.assert_found(self.certify(append, rule)), written("j/frontier"))
        self.assert_clean(self.certify(RECOVER, rule))


if __name__ == "__main__":
    tornfs.main()
