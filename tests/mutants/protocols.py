#!/usr/bin/env python3
"""What the first two-slot protocol loses, and what the rename protocol before it does not: H.1, an
acknowledged loss, and the refusals H.2 and H.3. Each was found by an exploration (rules.py has the
scripts) and is repeated here from its plan; with --full or TORNFS_FULL=1 it is found anew."""

from journal_case import JournalCase, tornfs
from rules import LONG_RECORDS

APPEND = "journal append --dir j --group 3 {protocol}"
RECOVER = "journal recover --dir j {protocol}"
CHECK = "journal verify --dir j {protocol} --promises {{promises}}"
# Few states: enough to record the workload, which the plan is carried out on.
SAMPLED = ("--strategy", "random", "--window-states", "2")


class Hole:
    def __init__(self, plan, says, *options, workload=APPEND, recover=RECOVER, records):
        self.plan = plan
        self.says = says
        self.options = options
        self.workload = workload
        self.recover = recover
        self.records = records


HOLES = {
    "H.1": Hole(
        "t1-efc3987425473c7a/k12.0/p15.3.1:0", "was reported durable with",
        "--tear", "sector", "--faults", "kill,power",
        records="".join(f"{number}\n" for number in range(1, 7)),
    ),
    "H.2": Hole(
        "t1-f547ac5e7d56c8eb/p23.6.6:0,5;5@63", "has an impossible length of 0",
        "--tear", "byte", "--faults", "power",
        workload=APPEND + " --checkpoint 2",
        records=LONG_RECORDS,
    ),
    "H.3": Hole(
        "t1-aca61a267d37c8ae/p18.2.1:0;0@9/p26.2.2:0", "has an impossible length of 0",
        "--tear", "byte", "--faults", "power",
        workload=APPEND + " && journal certify --dir j --view 1 {protocol}",
        recover=RECOVER + " && echo more | journal append --dir j {protocol}",
        records="1\n2\n",
    ),
}


class Protocols(JournalCase):
    def explore_hole(self, hole, protocol, *options, out="out"):
        choice = {"protocol": f"--protocol {protocol}"}
        workload = hole.workload.format(**choice)
        return self.explore(
            "--model", "posix", *hole.options, *options,
            "--recover", hole.recover.format(**choice),
            "--check", CHECK.format(**choice),
            workload=["sh", "-c", workload] if "&&" in workload else workload.split(),
            input=hole.records,
            out=out,
        )

    def test_the_reference_protocol_fails_as_planned(self):
        for name, hole in HOLES.items():
            with self.subTest(hole=name):
                self.explore_hole(hole, "reference", *SAMPLED, out=name)
                result = self.must("tornfs", "replay", "--plan", hole.plan, "--out", self.folder / name,
                                   status=1)
                self.assertIn(hole.says, result.out + result.err)

    def test_the_rename_protocol_has_none_of_them(self):
        for name, hole in HOLES.items():
            with self.subTest(hole=name):
                options = () if tornfs.full() or name == "H.1" else ("--strategy", "random", "--window-states", "40")
                self.assert_clean(self.explore_hole(hole, "rename", *options))

    def test_the_reference_protocol_is_found_out(self):
        if not tornfs.full():
            self.skipTest("long: --full")
        for name, hole in HOLES.items():
            with self.subTest(hole=name):
                deep = ("--depth", "2") if name == "H.3" else ()
                wide = ("--strategy", "random", "--window-states", "1500") if name == "H.2" else ()
                result = self.explore_hole(hole, "reference", *deep, *wide)
                titles = [finding["title"] for finding in self.assert_found(result)]
                self.assertTrue(any(hole.says in title for title in titles), titles)


if __name__ == "__main__":
    tornfs.main()
