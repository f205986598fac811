#!/usr/bin/env python3
"""A Redis server with `appendfsync always` on a mount: its own benchmark, and every acknowledged write after
a power loss at work, rewrites of its log included."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "programs"))

import redis_rows  # noqa: E402
import survival  # noqa: E402
import tornfs  # noqa: E402

BENCHMARK = ("ping_mbulk", "set", "get", "incr", "lpush", "rpop", "sadd", "hset", "zadd", "lrange_100", "mset")
# Its log is rewritten again and again.
REWRITES = ("--auto-aof-rewrite-min-size", "16kb", "--auto-aof-rewrite-percentage", "20")


class Redis(survival.Survival):
    def setUp(self):
        super().setUp()
        self.need("redis-server", "redis-benchmark")
        self.point = self.mount()

    def server(self, *options, appendfsync="always"):
        started = redis_rows.Redis(self.point, self.folder, appendfsync, options)
        self.ends_with_test(started.server)
        return started

    def test_its_own_benchmark(self):
        # The server does not sync the directory in which it makes its own.
        redis = self.server("--enable-debug-command", "local")
        self.must("tornfs", "sync", self.point)
        result = self.must("redis-benchmark", "-s", redis.address, "-n", 2000, "-c", 8, "-P", 4, "-t",
                           ",".join(BENCHMARK), "--csv")
        self.assertGreater(len(result.out.splitlines()), len(BENCHMARK))
        self.assertNotIn("error", result.out.lower() + result.err.lower())
        everything = redis.call("DEBUG", "DIGEST")
        self.assertGreater(int(redis.call("DBSIZE")), 0)
        self.crash(self.point)
        redis.close()
        again = self.server("--enable-debug-command", "local")
        self.assertEqual(again.call("DEBUG", "DIGEST"), everything)
        self.assertEqual(again.stop(), 0)

    def test_every_acknowledged_write(self):
        redis = self.server()
        self.must("tornfs", "sync", self.point)
        acknowledged = []
        for _ in range(3):
            acknowledged += self.crash_at_work(self.point, redis.put, first=len(acknowledged) + 1, enough=200)
            redis.close()
            redis = self.server()
            self.assertEqual(redis.missing(acknowledged), [])
        self.assertEqual(redis.stop(), 0)

    def test_every_acknowledged_write_while_its_log_is_rewritten(self):
        redis = self.server(*REWRITES)
        self.must("tornfs", "sync", self.point)
        acknowledged = self.crash_at_work(self.point, redis.put, enough=3000)
        redis.close()
        again = self.server()
        self.assertEqual(again.missing(acknowledged), [])
        self.assertEqual(again.stop(), 0)
        bases = [entry.name for entry in (self.point / "appendonlydir").glob("*.base.*")]
        self.assertNotIn("appendonly.aof.1.base.rdb", bases, "the log was not rewritten")

    def test_without_syncs_all_is_lost(self):
        redis = self.server(appendfsync="no")
        self.must("tornfs", "sync", self.point)
        acknowledged = self.crash_at_work(self.point, redis.put)
        redis.close()
        again = self.server()
        self.assertEqual(again.missing(acknowledged), acknowledged)
        self.assertEqual(again.stop(), 0)


if __name__ == "__main__":
    tornfs.main()
