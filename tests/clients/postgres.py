#!/usr/bin/env python3
"""A PostgreSQL server on a mount: pgbench, pg_amcheck, and every committed row after a power loss at work."""

import os
import pwd
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "programs"))

import postgres_rows  # noqa: E402
import survival  # noqa: E402
import tornfs  # noqa: E402

CLIENTS = 4
TRANSACTIONS = 100
# What pgbench changes has to add up, and to have one row of history for each transaction.
SUMS = ("select (select sum(abalance) from pgbench_accounts), (select sum(bbalance) from pgbench_branches),"
        " (select sum(tbalance) from pgbench_tellers), (select sum(delta) from pgbench_history),"
        " (select count(*) from pgbench_history)")


class Postgres(survival.Survival):
    def setUp(self):
        super().setUp()
        if postgres_rows.binary("postgres") is None:
            self.skipTest("PostgreSQL is not installed")
        # The server refuses root.
        self.options = {"user": postgres_rows.USER, "group": postgres_rows.USER} if os.geteuid() == 0 else {}
        self.point = self.mount(*(["--allow-other"] if self.options else []))
        self.data = self.point / "data"
        self.side = self.folder / "side"
        for folder in (self.data, self.side):
            folder.mkdir(mode=0o700)
            if self.options:
                os.chown(folder, *pwd.getpwnam(postgres_rows.USER)[2:4])
        postgres_rows.create_cluster(self.data, **self.options)
        self.must("tornfs", "sync", self.point)

    def server(self, *settings):
        started = postgres_rows.Postgres(self.data, self.side, settings, **self.options)
        self.ends_with_test(started.server)
        return started

    def committed_until_crash(self, postgres, enough):
        session = postgres.session()
        try:
            return self.crash_at_work(self.point, lambda number: postgres_rows.insert(session, number), enough=enough)
        finally:
            session.kill()
            session.communicate()

    def run_client(self, postgres, name, *arguments):
        return self.must(*postgres.client(name, *arguments), **self.options)

    def test_its_own_benchmark(self):
        postgres = self.server()
        self.run_client(postgres, "pgbench", "-i", "-q", postgres_rows.USER)
        result = self.run_client(postgres, "pgbench", "-c", CLIENTS, "-t", TRANSACTIONS, postgres_rows.USER)
        done = int(re.search(r"actually processed: (\d+)", result.out)[1])
        self.assertEqual(done, CLIENTS * TRANSACTIONS)
        self.crash(self.point)
        again = self.server()
        accounts, branches, tellers, history, rows = again.ask(SUMS)[0].split("|")
        self.assertEqual((accounts, branches, tellers), (history, history, history))
        self.assertEqual(int(rows), done)
        self.run_client(again, "pg_amcheck", "--install-missing", "--heapallindexed", "--all")
        self.assertEqual(again.stop(), 0)

    def test_every_committed_row(self):
        postgres = self.server("checkpoint_timeout=30s", "max_wal_size=2MB", "min_wal_size=2MB")
        postgres.ask(postgres_rows.TABLE)
        committed = self.committed_until_crash(postgres, enough=300)
        again = self.server()
        self.assertEqual(postgres_rows.missing_rows(again, committed), [])
        self.run_client(again, "pg_amcheck", "--install-missing", "--heapallindexed", postgres_rows.USER)
        self.assertEqual(again.stop(), 0)

    def test_without_syncs_rows_are_lost(self):
        postgres = self.server("fsync=off")
        postgres.ask(postgres_rows.TABLE)
        self.must("tornfs", "sync", self.point)
        committed = self.committed_until_crash(postgres, enough=50)
        again = self.server()
        self.assertEqual(postgres_rows.missing_rows(again, committed), committed)
        self.assertEqual(again.stop(), 0)


if __name__ == "__main__":
    tornfs.main()
