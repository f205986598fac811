// One transaction per value, as LMDB does it when nothing is set; without durability, MDB_NOSYNC.
#include <lmdb.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "store.h"

namespace stores {
namespace {

constexpr std::size_t kMapSize = std::size_t{64} << 20;

MDB_val View(const std::string& text) {
  // LMDB takes pointers to non-const and does not write there.
  return MDB_val{text.size(), const_cast<char*>(text.data())};
}

std::string Message(int status) { return status == 0 ? "" : mdb_strerror(status); }

class Lmdb : public Store {
 public:
  explicit Lmdb(MDB_env* env) : env_(env) {}
  Lmdb(const Lmdb&) = delete;
  Lmdb& operator=(const Lmdb&) = delete;
  ~Lmdb() override { mdb_env_close(env_); }

  std::string Put(const std::string& key, const std::string& value, bool durable) override {
    int status = mdb_env_set_flags(env_, MDB_NOSYNC, durable ? 0 : 1);
    MDB_txn* txn = nullptr;
    if (status == 0) status = mdb_txn_begin(env_, nullptr, 0, &txn);
    if (status != 0) return Message(status);
    MDB_dbi dbi = 0;
    MDB_val k = View(key);
    MDB_val v = View(value);
    status = mdb_dbi_open(txn, nullptr, 0, &dbi);
    if (status == 0) status = mdb_put(txn, dbi, &k, &v, 0);
    if (status != 0) {
      mdb_txn_abort(txn);
      return Message(status);
    }
    return Message(mdb_txn_commit(txn));
  }

  std::optional<std::string> Get(const std::string& key, std::string& problem) override {
    std::optional<std::string> found;
    MDB_val k = View(key);
    problem = Read([&](MDB_txn* txn, MDB_dbi dbi) {
      MDB_val v{};
      const int status = mdb_get(txn, dbi, &k, &v);
      if (status == 0) found.emplace(static_cast<const char*>(v.mv_data), v.mv_size);
      return status == MDB_NOTFOUND ? 0 : status;
    });
    return found;
  }

  std::string Verify() override {
    return Read([](MDB_txn* txn, MDB_dbi dbi) {
      MDB_cursor* cursor = nullptr;
      int status = mdb_cursor_open(txn, dbi, &cursor);
      if (status != 0) return status;
      MDB_val k{};
      MDB_val v{};
      while (status == 0) status = mdb_cursor_get(cursor, &k, &v, MDB_NEXT);
      mdb_cursor_close(cursor);
      return status == MDB_NOTFOUND ? 0 : status;
    });
  }

 private:
  template <typename Body>
  std::string Read(Body body) {
    MDB_txn* txn = nullptr;
    int status = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
    if (status != 0) return Message(status);
    MDB_dbi dbi = 0;
    status = mdb_dbi_open(txn, nullptr, 0, &dbi);
    if (status == 0) status = body(txn, dbi);
    mdb_txn_abort(txn);
    return Message(status);
  }

  MDB_env* env_;
};

}  // namespace

std::unique_ptr<Store> OpenLmdb(const std::string& path, std::string& problem) {
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    problem = std::strerror(errno);
    return nullptr;
  }
  MDB_env* env = nullptr;
  int status = mdb_env_create(&env);
  if (status == 0) status = mdb_env_set_mapsize(env, kMapSize);
  if (status == 0) status = mdb_env_open(env, path.c_str(), 0, 0644);
  if (status != 0) {
    problem = Message(status);
    mdb_env_close(env);
    return nullptr;
  }
  return std::make_unique<Lmdb>(env);
}

}  // namespace stores
