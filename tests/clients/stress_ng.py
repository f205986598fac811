"""stress-ng's filesystem stressors with --verify: they check what they write, list, lock and map."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs

# Each with its number of bogus operations for a short run.
STRESSORS = {
    "access": 50, "chdir": 50, "chmod": 50, "chown": 200, "copy-file": 20, "dentry": 500, "dir": 500,
    "dirdeep": 200, "dirmany": 500, "dup": 200, "fallocate": 20, "fcntl": 500, "fiemap": 50, "file-ioctl": 50,
    "filename": 100, "flock": 200, "fpunch": 20, "fsize": 20, "fstat": 200, "getdent": 50, "hdd": 300,
    "inode-flags": 100, "inotify": 20, "iomix": 50, "lease": 200, "link": 5, "locka": 200, "lockf": 200,
    "lockofd": 200, "mknod": 20, "mmapaddr": 20, "mmapfixed": 20, "msync": 100, "open": 200, "readahead": 50,
    "rename": 500, "revio": 100, "seek": 300, "symlink": 5, "sync-file": 20, "touch": 300,
    "utime": 500, "verity": 5, "xattr": 50,
}
FULL_TIMES = 20
# Of one stressor, what it made removed again: for the case that it hangs.
PATIENCE = 900


class StressNg(tornfs.Case):
    def test_stressors_verify(self):
        self.need("stress-ng")
        point = self.mount()
        failed = []
        for name, ops in STRESSORS.items():
            count = ops * FULL_TIMES if tornfs.full() else ops
            result = self.run_program("stress-ng", f"--{name}", 1, f"--{name}-ops", count, "--verify",
                                      "--timeout", "60s", "--temp-path", point, "--hdd-bytes", "8M", timeout=PATIENCE)
            # 3: not possible here, 4: not implemented here, on any filesystem.
            if result.status not in (0, 3, 4):
                failed.append(str(result))
        self.assertEqual(failed, [], "\n".join(failed))
        self.assertEqual(sorted(entry.name for entry in point.iterdir()), [])
        self.umount(point)


if __name__ == "__main__":
    tornfs.main()
