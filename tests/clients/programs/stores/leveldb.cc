// LevelDB with small buffers, so that logs are switched and tables compacted while values are put.
#include <leveldb/db.h>

#include "store.h"

namespace stores {
namespace {

constexpr std::size_t kWriteBuffer = std::size_t{64} << 10;

std::string Message(const leveldb::Status& status) { return status.ok() ? "" : status.ToString(); }

class LevelDb : public Store {
 public:
  explicit LevelDb(leveldb::DB* db) : db_(db) {}

  std::string Put(const std::string& key, const std::string& value, bool durable) override {
    leveldb::WriteOptions options;
    options.sync = durable;
    return Message(db_->Put(options, key, value));
  }

  std::optional<std::string> Get(const std::string& key, std::string& problem) override {
    std::string value;
    const leveldb::Status status = db_->Get(Checked(), key, &value);
    if (status.IsNotFound()) return std::nullopt;
    problem = Message(status);
    return value;
  }

  std::string Verify() override {
    const std::unique_ptr<leveldb::Iterator> each(db_->NewIterator(Checked()));
    for (each->SeekToFirst(); each->Valid(); each->Next()) {
    }
    return Message(each->status());
  }

 private:
  static leveldb::ReadOptions Checked() {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    return options;
  }

  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

std::unique_ptr<Store> OpenLevelDb(const std::string& path, std::string& problem) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.paranoid_checks = true;
  options.write_buffer_size = kWriteBuffer;
  leveldb::DB* db = nullptr;
  problem = Message(leveldb::DB::Open(options, path, &db));
  if (!problem.empty()) return nullptr;
  return std::make_unique<LevelDb>(db);
}

}  // namespace stores
