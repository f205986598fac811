#!/usr/bin/env python3
"""What a durable group costs, counted by the mount while an unmodified `journal append` runs: data
writes, file barriers, creates, renames and directory barriers of n records of 12 KiB, for the
rename protocol and ours, with bodies in the data file and in segments."""

import json
import struct
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

PAYLOAD = 12288  # Bytes of a record: 16,384 in the data file.
KINDS = ("write", "fdatasync", "create", "rename", "fsyncdir")


class Costs:
    """`group` records each; costs of the whole, in the order of KINDS, by number of records."""

    def __init__(self, options, group, costs, segments=False):
        self.options = options
        self.group = group
        self.costs = costs
        self.segments = segments


TABLE = {
    "plain, rename protocol": Costs("--protocol rename", 64, {
        65: (4, 4, 2, 2, 2), 256: (8, 8, 4, 4, 4), 257: (10, 10, 5, 5, 5)}),
    "plain": Costs("", 256, {
        65: (2, 2, 0, 0, 0), 256: (2, 2, 0, 0, 0), 257: (4, 4, 0, 0, 0)}),
    "bodies in segments, rename protocol": Costs("--messages --protocol rename", 64, {
        65: (6, 6, 2, 2, 2), 256: (12, 12, 4, 4, 4), 257: (15, 15, 5, 5, 5)}, segments=True),
    "bodies in segments": Costs("--messages", 256, {
        65: (3, 3, 0, 0, 0), 256: (3, 3, 0, 0, 0), 257: (6, 6, 0, 0, 0)}, segments=True),
}


class Figures(tornfs.Case):
    def steady(self, costs, records):
        """The mount's events from the first write of the last `append` on: what it does when it
        opens the journal comes before that. The first segment is there already."""
        records_file = self.folder / "records"
        payload = bytes(PAYLOAD)
        records_file.write_bytes((struct.pack("<I", PAYLOAD) + payload) * records)
        protocol = costs.options.removeprefix("--messages")
        steps = [f"echo first | journal append --dir j {costs.options}",
                 f"journal append --dir j --length-prefixed --group {costs.group} {costs.options}"
                 f" < {records_file}"]
        if costs.segments:
            steps.insert(0, f"journal segments --dir j --max-size 1073741824 {protocol}")
        self.explore("--strategy", "random", "--window-states", "2", "--check", "true",
                     workload=["sh", "-c", " && ".join(steps)])
        events = [json.loads(line) for line in
                  (self.folder / "out" / "events.jsonl").read_text().splitlines()]
        acknowledged = [n for n, event in enumerate(events) if "promise" in event]
        second = events[acknowledged[-records - 1] + 1:acknowledged[-1]]
        first_write = next(n for n, event in enumerate(second)
                           if event.get("kind") == "write" and event["length"] > 4096)
        return [event["kind"] for event in second[first_write:] if "kind" in event]

    def test_a_group_costs_what_the_protocol_says(self):
        for name, costs in TABLE.items():
            for records, expected in costs.costs.items():
                with self.subTest(layout=name, records=records):
                    kinds = Counter(self.steady(costs, records))
                    self.assertEqual(kinds.pop("fsync", 0), 0)
                    self.assertEqual(tuple(kinds.pop(kind, 0) for kind in KINDS), expected)
                    self.assertEqual(kinds, {})


if __name__ == "__main__":
    tornfs.main()
