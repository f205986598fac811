// RocksDB with small buffers, so that logs are switched and tables compacted while values are put.
#include <rocksdb/db.h>

#include "store.h"

namespace stores {
namespace {

constexpr std::size_t kWriteBuffer = std::size_t{64} << 10;

std::string Message(const rocksdb::Status& status) { return status.ok() ? "" : status.ToString(); }

class RocksDb : public Store {
 public:
  explicit RocksDb(rocksdb::DB* db) : db_(db) {}

  std::string Put(const std::string& key, const std::string& value, bool durable) override {
    rocksdb::WriteOptions options;
    options.sync = durable;
    return Message(db_->Put(options, key, value));
  }

  std::optional<std::string> Get(const std::string& key, std::string& problem) override {
    std::string value;
    const rocksdb::Status status = db_->Get(Checked(), key, &value);
    if (status.IsNotFound()) return std::nullopt;
    problem = Message(status);
    return value;
  }

  std::string Verify() override {
    const std::string problem = Message(db_->VerifyChecksum());
    if (!problem.empty()) return problem;
    const std::unique_ptr<rocksdb::Iterator> each(db_->NewIterator(Checked()));
    for (each->SeekToFirst(); each->Valid(); each->Next()) {
    }
    return Message(each->status());
  }

 private:
  static rocksdb::ReadOptions Checked() {
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    return options;
  }

  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<Store> OpenRocksDb(const std::string& path, std::string& problem) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.write_buffer_size = kWriteBuffer;
  rocksdb::DB* db = nullptr;
  problem = Message(rocksdb::DB::Open(options, path, &db));
  if (!problem.empty()) return nullptr;
  return std::make_unique<RocksDb>(db);
}

}  // namespace stores
