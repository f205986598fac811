#!/usr/bin/env python3
"""A minute and a half of `tornfs calibrate` on runs drawn from all litmus programs, schedules and
filesystems there are here: no escape. How much was looked at is printed; the long run is in
docs/calibration.md."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

import tornfs  # noqa: E402

FILESYSTEMS = {
    "mkfs.ext4": ("ext4", "ext4-nodelalloc", "ext4-writeback", "ext4-journal", "ext4-noauto",
                  "ext4-diolock"),
    "mkfs.xfs": ("xfs",),
    "mkfs.btrfs": ("btrfs",),
}
PROGRAMS = tornfs.SOURCE / "tests" / "litmus"


class Subset(tornfs.Case):
    def test_no_escape(self):
        self.need("mkfs.ext4")
        options = []
        for program, names in FILESYSTEMS.items():
            if tornfs.shutil.which(program, path=self.environment["PATH"] + ":/usr/sbin:/sbin"):
                options += [word for name in names for word in ("--fs", name)]
        result = self.run_program("tornfs", "calibrate", "--json", "--budget", "75s", "--images-per-run",
                                  "8", "--programs", PROGRAMS, *options)
        # The time may be up before the first round is over.
        self.assertIn(result.status, (0, 1, 3), str(result))
        found = json.loads(result.out)
        self.assertEqual(found["escapes"], [])
        self.assertGreater(found["images"], 0)
        for one in found["filesystems"]:
            images = sum(program["images"] for program in one["programs"])
            print(f"{one['name']}: {images} images, {one['images_per_second_and_core']:.0f} a second "
                  f"and core, {one['allowed']} outcomes allowed and {one['seen']} seen")


if __name__ == "__main__":
    tornfs.main()
