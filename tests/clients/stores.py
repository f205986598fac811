#!/usr/bin/env python3
"""LMDB, LevelDB and RocksDB on a mount: what comes with them, and every acknowledged value after a power loss
at work and at any place that the model knows."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import survival  # noqa: E402
import tornfs  # noqa: E402

STORES = ("lmdb", "leveldb", "rocksdb")
ENDLESS = 1_000_000


class Stores(survival.Survival):
    def store(self, name):
        """Skips the test if the program was built without that store."""
        if self.run_program("stores", name, "check", "nowhere/at/all", "none").status == tornfs.SKIPPED:
            self.skipTest(f"built without {name}")
        return name

    def put_until_crash(self, point, name, first, *options, enough=300):
        writer = self.start("stores", name, "put", "db", first, ENDLESS, *options, cwd=point, text=True,
                            stdout=subprocess.PIPE)
        return self.lines_until_crash(point, writer, enough)

    def survive(self, name, model="posix"):
        """Three power losses in a row."""
        self.store(name)
        point = self.mount("--model", model)
        self.must("stores", name, "put", "db", 1, 1, cwd=point)
        # Whoever makes a folder syncs the one above it; none of them does.
        self.must("tornfs", "sync", point)
        promises = self.folder / "promises"
        lines = ["put 1\n"]
        for _ in range(3):
            lines += self.put_until_crash(point, name, len(lines) + 1)
            promises.write_text("".join(lines))
            self.must("stores", name, "check", "db", promises, cwd=point)

    def test_lmdb_keeps_every_value(self):
        self.survive("lmdb")

    def test_leveldb_keeps_every_value(self):
        # It does not sync the folder after it has begun a new log.
        self.survive("leveldb", model="ext4")

    def test_rocksdb_keeps_every_value(self):
        self.survive("rocksdb")

    def test_without_syncs_values_are_lost(self):
        for name in STORES:
            with self.subTest(store=name):
                self.store(name)
                point = self.mount(name=f"mnt-{name}")
                self.must("stores", name, "put", "db", 1, 1, cwd=point)
                self.must("tornfs", "sync", point)
                lines = self.put_until_crash(point, name, 2, "--no-sync", enough=20)
                (self.folder / "promises").write_text("".join(lines))
                result = self.must("stores", name, "check", "db", self.folder / "promises", cwd=point, status=1)
                self.assertIn("is missing", result.out)

    def explore_lmdb(self, *options):
        self.store("lmdb")
        return self.explore("--setup", "stores lmdb put db 1 1", "--check", "stores lmdb check db {promises}",
                            "--jobs", 2, workload=["stores", "lmdb", "put", "db", "2", "6", *options])

    @tornfs.unittest.skipUnless(os.geteuid() == 0, "needs namespaces")
    def test_lmdb_keeps_every_value_in_every_state(self):
        # Lazily, although thread ids and addresses are in its lock file.
        result = self.explore_lmdb()
        self.assert_clean(result)
        self.assertIn("complete", result.stats["coverage"])

    def test_lmdb_without_syncs_is_found_out(self):
        self.assert_found(self.explore_lmdb("--no-sync"), times=2)

    def test_lmdb_with_its_tools(self):
        self.need("mdb_load", "mdb_dump", "mdb_stat", "mdb_copy")
        self.store("lmdb")
        point = self.mount()
        self.must("stores", "lmdb", "put", "db", 1, 500, cwd=point)
        dump = self.must("mdb_dump", "db", cwd=point).out
        (point / "loaded").mkdir()
        self.must("mdb_load", "loaded", input=dump, cwd=point)
        (point / "copy").mkdir()
        self.must("mdb_copy", "-c", "loaded", "copy", cwd=point)
        self.must("tornfs", "sync", point)
        self.crash(point)
        for name in ("db", "loaded", "copy"):
            self.assertIn("Entries: 500", self.must("mdb_stat", name, cwd=point).out)
            self.assertEqual(self.records(self.must("mdb_dump", name, cwd=point).out), self.records(dump))

    @staticmethod
    def records(dump):
        return list(itertools.dropwhile(lambda line: line != "HEADER=END", dump.splitlines()))

    def test_rocksdb_with_its_benchmark(self):
        self.need("db_bench")
        point = self.mount()
        options = (f"--db={point}/bench", "--num=2000", "--value_size=200", "--sync=1", "--write_buffer_size=65536")
        self.must("db_bench", "--benchmarks=fillseq", *options, "--writes=1")
        self.must("tornfs", "sync", point)
        self.bench("overwrite,updaterandom,deleterandom,overwrite,compact,verifychecksum", *options)
        before = self.found(self.bench("readrandom", *options))
        self.crash(point)
        self.bench("verifychecksum", *options)
        self.assertEqual(self.found(self.bench("readrandom", *options)), before)

    def bench(self, benchmarks, *options):
        return self.must("db_bench", f"--benchmarks={benchmarks}", "--use_existing_db=1", "--seed=1", *options).out

    def found(self, out):
        """How many of the keys readrandom found."""
        return re.search(r"\((\d+ of \d+) found\)", out)[1]


if __name__ == "__main__":
    tornfs.main()
