#!/usr/bin/env python3
"""Servers explored: Redis and PostgreSQL keep every acknowledged write through the power losses tried when
they are told to sync, and not when they are told not to. The recipe is docs/clients.md."""

import os
import pwd
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
REDIS = PROGRAMS / "redis_rows.py"
POSTGRES = PROGRAMS / "postgres_rows.py"
# What an operator does with a log that the server refuses: cut off what is not whole.
REPAIR = "sh -c 'echo y | redis-check-aof --fix appendonlydir/appendonly.aof.manifest >&2'"


@tornfs.unittest.skipUnless(os.geteuid() == 0, "needs namespaces")
class Servers(tornfs.Case):
    def explore_server(self, program, *options, put):
        result = self.explore("--jobs", 2, "--setup", f"{program} create", "--check", f"{program} check {{promises}}",
                              *options, workload=[program, "put", *put], timeout=1200)
        print(f"{program.stem} {' '.join(put)}: {result.stats['states']} states, {result.stats['coverage']}")
        self.assertEqual(result.stats["promises"], int(put[0]))
        self.assertEqual(self.leftovers(), [])
        return result

    def redis(self, *put, options=()):
        self.need("redis-server", "redis-check-aof")
        return self.explore_server(REDIS, "--recover", REPAIR, *options, put=put)

    def postgres(self, *put):
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            self.skipTest("PostgreSQL is not installed")
        return self.explore_server(POSTGRES, "--user", "postgres", "--window-states", 16, put=put)

    def test_redis_that_syncs(self):
        result = self.redis("5", "always")
        self.assert_clean(result)
        self.assertIn("complete", result.stats["coverage"])

    def test_redis_that_syncs_killed_and_twice(self):
        self.assert_clean(self.redis("3", "always", options=["--faults", "kill,power", "--depth", 2]))

    def test_redis_that_does_not(self):
        findings = self.assert_found(self.redis("3", "no"), times=2)
        self.assertTrue(any("appendonly.aof" in finding["sentence"] for finding in findings), findings)

    def test_redis_refuses_a_log_that_ends_in_nuls(self):
        """So without the repair there is a violation, in models where a size survives without its data."""
        result = self.explore_server(REDIS, put=["2", "always"])
        findings = self.assert_found(result, times=2)
        for finding in findings:
            self.assertIn("ext4", finding["models"])
            self.assertNotIn("xfs", finding["models"])

    def test_postgres_that_syncs(self):
        self.assert_clean(self.postgres("3", "on"))

    def test_postgres_that_does_not(self):
        findings = self.assert_found(self.postgres("2", "off"), times=2)
        self.assertTrue(any("pg_wal" in finding["sentence"] for finding in findings), findings)


if __name__ == "__main__":
    tornfs.main()
