// bench_stores STORE DIR RECORDS SIZE GROUP: appends records to another store, in durable groups,
// and prints what `journal bench --json` prints. Exit code 77: this build does not have the store.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#endif
#ifdef HAVE_LEVELDB
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#endif
#ifdef HAVE_ROCKSDB
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#endif

namespace {

// Makes keys [first, first + count) with `value` durable; false on failure.
using AppendGroup = std::function<bool(long first, long count, const std::string& value)>;
// Opens a fresh store; an empty function on failure.
using Opener = AppendGroup (*)(const std::string& path);

std::string Key(long number) {
  const std::string digits = std::to_string(number);
  return std::string(20 - digits.size(), '0') + digits;
}

#ifdef HAVE_SQLITE
AppendGroup OpenSqlite(const std::string& path) {
  sqlite3* db = nullptr;
  if (sqlite3_open((path + "/bench.db").c_str(), &db) != SQLITE_OK) return {};
  const char* const setup =
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
      "CREATE TABLE records(number INTEGER PRIMARY KEY, body BLOB);";
  if (sqlite3_exec(db, setup, nullptr, nullptr, nullptr) != SQLITE_OK) return {};
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO records VALUES(?, ?)", -1, &insert, nullptr);
  return [db, insert](long first, long count, const std::string& value) {
    if (sqlite3_exec(db, "BEGIN", nullptr, nullptr, nullptr) != SQLITE_OK) return false;
    for (long i = 0; i < count; ++i) {
      sqlite3_bind_int64(insert, 1, first + i);
      sqlite3_bind_blob(insert, 2, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
      if (sqlite3_step(insert) != SQLITE_DONE) return false;
      sqlite3_reset(insert);
    }
    return sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK;
  };
}
#endif

#ifdef HAVE_LEVELDB
AppendGroup OpenLevelDb(const std::string& path) {
  leveldb::Options options;
  options.create_if_missing = true;
  leveldb::DB* db = nullptr;
  if (!leveldb::DB::Open(options, path + "/leveldb", &db).ok()) return {};
  return [db](long first, long count, const std::string& value) {
    leveldb::WriteBatch batch;
    for (long i = 0; i < count; ++i) batch.Put(Key(first + i), value);
    leveldb::WriteOptions synced;
    synced.sync = true;
    return db->Write(synced, &batch).ok();
  };
}
#endif

#ifdef HAVE_ROCKSDB
AppendGroup OpenRocksDb(const std::string& path) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  if (!rocksdb::DB::Open(options, path + "/rocksdb", &db).ok()) return {};
  return [db](long first, long count, const std::string& value) {
    rocksdb::WriteBatch batch;
    for (long i = 0; i < count; ++i) batch.Put(Key(first + i), value);
    rocksdb::WriteOptions synced;
    synced.sync = true;
    return db->Write(synced, &batch).ok();
  };
}
#endif

const std::map<std::string, Opener>& Stores() {
  static const std::map<std::string, Opener> stores{
#ifdef HAVE_SQLITE
      {"sqlite", OpenSqlite},
#endif
#ifdef HAVE_LEVELDB
      {"leveldb", OpenLevelDb},
#endif
#ifdef HAVE_ROCKSDB
      {"rocksdb", OpenRocksDb},
#endif
  };
  return stores;
}

double Percentile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(static_cast<double>(sorted.size() - 1) * part)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("usage: bench_stores STORE DIR RECORDS SIZE GROUP\n", stderr);
    return 2;
  }
  const auto store = Stores().find(argv[1]);
  if (store == Stores().end()) return 77;
  const AppendGroup append = store->second(argv[2]);
  if (!append) return 1;
  const long records = std::atol(argv[3]);
  const long group = std::atol(argv[5]);
  const std::string value(static_cast<std::size_t>(std::atol(argv[4])), 'b');
  using Clock = std::chrono::steady_clock;
  std::vector<double> latencies;
  const auto begin = Clock::now();
  for (long done = 0; done < records; done += group) {
    const auto sent = Clock::now();
    if (!append(done, group, value)) return 1;
    const double took = std::chrono::duration<double, std::micro>(Clock::now() - sent).count();
    latencies.insert(latencies.end(), static_cast<std::size_t>(group), took);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::sort(latencies.begin(), latencies.end());
  std::printf(
      "{\"acks\":%zu,\"acks_per_second\":%.1f,\"p50_us\":%.1f,\"p95_us\":%.1f,\"p99_us\":%.1f}\n",
      latencies.size(), static_cast<double>(latencies.size()) / seconds, Percentile(latencies, 0.5),
      Percentile(latencies, 0.95), Percentile(latencies, 0.99));
  // No orderly end: what was acknowledged is durable, and closing is not what is measured.
  std::fflush(stdout);
  std::_Exit(0);
}
