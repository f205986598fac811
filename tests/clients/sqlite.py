#!/usr/bin/env python3
"""An unmodified sqlite3: works on a mount, and keeps every committed row through every power loss
when it is told to sync, and not when it is told not to."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import tornfs  # noqa: E402

ROWS = Path(__file__).resolve().parent / "programs" / "rows.sh"
TABLE = "create table t(n integer primary key, text text)"

# How a database is kept: statements of its creation, and of every connection.
WAL = ("pragma journal_mode=wal", "pragma synchronous=full")
ROLLBACK = ("pragma journal_mode=delete", "pragma synchronous=extra")


def insert(number):
    return f"insert into t values({number}, 'text of row {number} {'x' * (number * 37 % 300)}');"


class Sqlite(tornfs.Case):
    def setUp(self):
        super().setUp()
        self.need("sqlite3", "awk")

    def many_inserts(self, creation, connection):
        """A few thousand rows in groups, updates and deletions, looked at by a second process."""
        statements = [".bail on", creation + ";", connection + ";", TABLE + ";"]
        for start in range(1, 3001, 100):
            statements += ["begin;", *(insert(n) for n in range(start, start + 100)), "commit;"]
        statements += ["update t set text = text || text where n % 7 = 0;",
                       "delete from t where n > 2900;", "vacuum;", ".print done"]
        result = self.must(
            "tornfs", "run",
            "--then", "sqlite3 -batch db 'pragma integrity_check; select count(*), sum(n) from t' > seen"
                      " && cat seen && printf 'ok\\n2900|4206450\\n' | cmp - seen",
            "--", "sqlite3", "-batch", "db", input="\n".join(statements) + "\n")
        self.assertIn("done\n", result.out)

    def test_many_inserts_wal(self):
        self.many_inserts(*WAL)

    def test_many_inserts_rollback(self):
        self.many_inserts(*ROLLBACK)

    def explore_rows(self, creation, connection, rows=20):
        # Small automatic checkpoints, so that the log is also written back and started anew.
        statements = [".bail on", connection + ";", "pragma wal_autocheckpoint=8;"]
        for number in range(1, rows + 1):
            statements += ["begin;", insert(number), "commit;", f".print row {number}"]
        result = self.explore(
            "--model", "posix", "--faults", "kill,power", "--window-states", "64",
            "--setup", f"sqlite3 -batch db '{creation}; {TABLE}'",
            "--check", f"{ROWS} {{promises}}",
            workload=["sqlite3", "-batch", "db"], input="\n".join(statements) + "\n")
        self.assertGreaterEqual(result.stats["promises"], rows)
        print(f"{creation}, {connection}: {result.stats['states']} states, {result.stats['coverage']}")
        return result

    def test_wal_keeps_every_commit(self):
        self.assert_clean(self.explore_rows(*WAL))

    def test_rollback_journal_keeps_every_commit(self):
        self.assert_clean(self.explore_rows(*ROLLBACK))

    def test_without_syncs_commits_are_lost(self):
        for name, (creation, _) in {"wal": WAL, "rollback": ROLLBACK}.items():
            with self.subTest(journal=name):
                result = self.explore_rows(creation, "pragma synchronous=off", rows=6)
                self.assert_found(result, times=2)


if __name__ == "__main__":
    tornfs.main()
