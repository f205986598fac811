"""Random operations on a mount and on a native directory, with equal results and equal trees."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs

SHORT_OPS = 30_000
FULL_OPS = 250_000


class RandomOperations(tornfs.Case):
    def operate(self, *options):
        native, mounted = self.native(), self.mount()
        program = Path(os.environ["TORNFS_BIN"]) / "random_ops"
        result = self.must(program, native, mounted, *options, timeout=3000)
        print(" ".join(str(option) for option in options), result.out.strip())

    def test_one_process(self):
        if tornfs.full():
            self.operate("--seed", 1, "--ops", FULL_OPS)
        else:
            self.operate("--seed", 1, "--ops", SHORT_OPS)

    def test_four_processes(self):
        if tornfs.full():
            self.operate("--seed", 100, "--ops", FULL_OPS, "--processes", 4)
        else:
            self.operate("--seed", 100, "--ops", SHORT_OPS // 4, "--processes", 4)


if __name__ == "__main__":
    tornfs.main()
