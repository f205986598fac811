#include "memory_disk.h"

#include <algorithm>
#include <cerrno>

namespace tornfs::journal {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kSectorBytes = 512;

// Where a torn page changes from new to old. Byte cuts favour the start, where formats live.
std::size_t Cut(Rng& rng, Tear tear) {
  if (tear == Tear::kSector) return kSectorBytes * (1 + rng.Below(kPageBytes / kSectorBytes - 1));
  return rng.Below(2) == 0 ? 1 + rng.Below(224) : 1 + rng.Below(kPageBytes - 1);
}

}  // namespace

class MemoryFile final : public File {
 public:
  MemoryFile(MemoryDisk& disk, std::string name, std::size_t inode)
      : disk_(disk), name_(std::move(name)), inode_(inode), epoch_(disk.epoch_) {}

  Result<std::size_t> ReadAt(std::uint64_t at, std::span<std::byte> out) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    for (std::uint64_t page = at / kPageBytes; page * kPageBytes < at + out.size(); ++page) {
      if (disk_.unreadable.contains({name_, page})) return IoFailure(EIO, "read " + name_);
    }
    const auto& bytes = inode().now;
    const std::size_t got = at >= bytes.size() ? 0 : std::min(out.size(), bytes.size() - at);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(got == 0 ? 0 : at), got, out.begin());
    return got;
  }

  Status WriteAt(std::uint64_t at, std::span<const std::byte> bytes) override {
    const Status begun = disk_.Begin(epoch_);
    if (!begun && disk_.Failing() && disk_.fail_half_way) Put(at, bytes.first(bytes.size() / 2));
    if (!begun) return begun;
    ++disk_.counts.writes;
    Put(at, bytes);
    return disk_.End();
  }

  void Put(std::uint64_t at, std::span<const std::byte> bytes) {
    auto& now = inode().now;
    if (now.size() < at + bytes.size()) now.resize(at + bytes.size());
    std::copy(bytes.begin(), bytes.end(), now.begin() + static_cast<std::ptrdiff_t>(at));
    MemoryDisk::MarkDirty(inode(), at, at + bytes.size());
  }

  Status WriteParts(std::uint64_t at, std::span<const std::span<const std::byte>> parts) override {
    MemoryDisk::Bytes bytes;
    for (const auto& part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
    return WriteAt(at, bytes);
  }

  Result<std::uint64_t> Length() override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    return inode().now.size();
  }

  Status Truncate(std::uint64_t length) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    MemoryDisk::MarkDirty(inode(), std::min<std::uint64_t>(length, inode().now.size()),
                          std::max<std::uint64_t>(length, inode().now.size()));
    inode().now.resize(length);
    return disk_.End();
  }

  Status Sync() override {
    const Status begun = disk_.Begin(epoch_);
    if (!begun && disk_.Failing() && disk_.fail_forgets) inode().dirty.clear();
    if (!begun) return begun;
    ++disk_.counts.file_syncs;
    MemoryDisk::Settle(inode());
    return disk_.End();
  }

  void Preallocate(std::uint64_t length) override { inode().reserved = length; }

 private:
  [[nodiscard]] MemoryDisk::Inode& inode() { return disk_.inodes_[inode_]; }

  MemoryDisk& disk_;
  std::string name_;
  std::size_t inode_;
  int epoch_;
};

class MemoryStorage final : public Storage {
 public:
  explicit MemoryStorage(MemoryDisk& disk) : disk_(disk), epoch_(disk.epoch_) {}

  ~MemoryStorage() override {
    if (disk_.epoch_ == epoch_ && held_) disk_.locked_.erase(*held_);
  }

  Status CreateDirectory() override { return disk_.Begin(epoch_); }

  Status Lock(const std::string& name) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    if (!disk_.names_.contains(name)) Create(name);
    if (!disk_.locked_.insert(name).second) return Fail(ErrorKind::kLocked, name + " is locked");
    held_ = name;
    return disk_.End();
  }

  Result<std::unique_ptr<File>> Open(const std::string& name, OpenMode mode) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    if (mode == OpenMode::kCreate) {
      ++disk_.counts.creates;
      if (!disk_.names_.contains(name)) Create(name);
      auto& inode = disk_.inodes_[disk_.names_[name]];
      MemoryDisk::MarkDirty(inode, 0, inode.now.size());
      inode.now.clear();
    }
    bool created = mode == OpenMode::kCreate;
    if (mode == OpenMode::kEnsure && !disk_.names_.contains(name)) {
      ++disk_.counts.creates;
      Create(name);
      created = true;
    }
    const auto found = disk_.names_.find(name);
    if (found == disk_.names_.end()) return IoFailure(ENOENT, "open " + name);
    if (created) JOURNAL_TRY(disk_.End());
    return std::make_unique<MemoryFile>(disk_, name, found->second);
  }

  Result<std::vector<DirectoryEntry>> List() override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, inode] : disk_.names_) {
      if (!MemoryDisk::InPartition(name)) entries.push_back({name, EntryType::kFile});
    }
    return entries;
  }

  Result<std::vector<DirectoryEntry>> ListPartition() override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    std::vector<DirectoryEntry> entries;
    for (const auto& [name, inode] : disk_.names_) {
      if (!MemoryDisk::InPartition(name)) continue;
      entries.push_back({name.substr(kPartitionPrefix.size()), EntryType::kFile});
    }
    return entries;
  }

  Status Rename(const std::string& from, const std::string& to) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    ++disk_.counts.renames;
    const auto found = disk_.names_.find(from);
    if (found == disk_.names_.end()) return IoFailure(ENOENT, "rename " + from);
    const std::size_t inode = found->second;
    // Two names of one object: both stay, as rename(2) has it.
    if (disk_.names_.contains(to) && disk_.names_[to] == inode) return disk_.End();
    disk_.names_[to] = inode;
    disk_.names_.erase(from);
    return disk_.End();
  }

  Status Link(const std::string& from, const std::string& to) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    ++disk_.counts.links;
    const auto found = disk_.names_.find(from);
    if (found == disk_.names_.end()) return IoFailure(ENOENT, "link " + from);
    if (disk_.names_.contains(to)) return IoFailure(EEXIST, "link " + to);
    const std::size_t inode = found->second;
    disk_.names_[to] = inode;
    return disk_.End();
  }

  Result<bool> SameFile(const std::string& a, const std::string& b) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    const auto first = disk_.names_.find(a);
    const auto second = disk_.names_.find(b);
    return first != disk_.names_.end() && second != disk_.names_.end() &&
           first->second == second->second;
  }

  Status Unlink(const std::string& name) override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    ++disk_.counts.unlinks;
    if (disk_.fail_unlinks || (disk_.failing_unlinks > 0 && disk_.failing_unlinks-- > 0))
      return IoFailure(EIO, "unlink " + name);
    if (disk_.names_.erase(name) == 0) return IoFailure(ENOENT, "unlink " + name);
    return disk_.End();
  }

  Status SyncDirectory() override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    ++disk_.counts.directory_syncs;
    disk_.SyncNames(false);
    return disk_.End();
  }

  Status SyncPartition() override {
    JOURNAL_TRY(disk_.Begin(epoch_));
    ++disk_.counts.directory_syncs;
    disk_.SyncNames(true);
    return disk_.End();
  }

  [[nodiscard]] bool SyncsConcurrently() const override { return false; }

 private:
  void Create(const std::string& name) {
    disk_.inodes_.emplace_back();
    disk_.names_[name] = disk_.inodes_.size() - 1;
  }

  MemoryDisk& disk_;
  int epoch_;
  std::optional<std::string> held_;
};

std::unique_ptr<Storage> MemoryDisk::Attach() { return std::make_unique<MemoryStorage>(*this); }

Status MemoryDisk::Begin(int epoch) {
  if (epoch != epoch_ || stopped_) return IoFailure(EIO, "the process is gone");
  const int call = calls_++;
  if (fail_call == call) return IoFailure(fail_errno, "injected");
  return {};
}

Status MemoryDisk::End() {
  const int effect = effects_++;
  if (!stop_after_effect || effect < *stop_after_effect) return {};
  stopped_ = true;
  return IoFailure(EIO, "stopped");
}

void MemoryDisk::Settle(Inode& inode) {
  inode.durable.resize(inode.now.size());
  for (const std::size_t page : inode.dirty) {
    const std::size_t begin = page * kPageBytes;
    if (begin >= inode.now.size()) continue;
    const std::size_t length = std::min(kPageBytes, inode.now.size() - begin);
    std::copy_n(inode.now.begin() + static_cast<std::ptrdiff_t>(begin), length,
                inode.durable.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  inode.dirty.clear();
}

void MemoryDisk::MarkDirty(Inode& inode, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t page = begin / kPageBytes; page * kPageBytes < end; ++page) {
    inode.dirty.insert(page);
  }
}

bool MemoryDisk::InPartition(const std::string& name) { return name.starts_with(kPartitionPrefix); }

void MemoryDisk::SyncNames(bool partition) {
  std::erase_if(durable_names_,
                [partition](const auto& entry) { return InPartition(entry.first) == partition; });
  for (const auto& entry : names_) {
    if (InPartition(entry.first) == partition) durable_names_.insert(entry);
  }
}

void MemoryDisk::Kill() {
  ++epoch_;
  locked_.clear();
  stopped_ = false;
  stop_after_effect.reset();
}

MemoryDisk::Bytes MemoryDisk::Survive(const Inode& inode, Rng& rng, Tear tear) {
  Bytes old = inode.durable;
  Bytes fresh = inode.now;
  const std::size_t size = rng.Below(2) == 0 ? old.size() : fresh.size();
  const std::size_t most = std::max(old.size(), fresh.size());
  old.resize(most);
  fresh.resize(most);
  Bytes result = old;
  for (const std::size_t page : inode.dirty) {
    const std::size_t begin = page * kPageBytes;
    if (begin >= most) continue;
    const std::size_t length = std::min(kPageBytes, most - begin);
    std::size_t kept = length;
    const std::uint64_t choice = rng.Below(tear == Tear::kNone ? 2 : 3);
    if (choice == 0) kept = 0;
    if (choice == 2) kept = std::min(length, Cut(rng, tear));
    std::copy_n(fresh.begin() + static_cast<std::ptrdiff_t>(begin), kept,
                result.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  result.resize(size);
  return result;
}

void MemoryDisk::PowerLoss(Rng& rng, Tear tear) {
  for (Inode& inode : inodes_) {
    inode.now = Survive(inode, rng, tear);
    inode.durable = inode.now;
    inode.dirty.clear();
  }
  Names survivors = durable_names_;
  Names all = durable_names_;
  all.insert(names_.begin(), names_.end());
  for (const auto& entry : all) {
    const std::string& name = entry.first;
    const auto now = names_.find(name);
    const auto durable = durable_names_.find(name);
    const bool same =
        now != names_.end() && durable != durable_names_.end() && now->second == durable->second;
    if (same || rng.Below(2) == 0) continue;
    survivors.erase(name);
    if (now != names_.end()) survivors[name] = now->second;
  }
  names_ = survivors;
  durable_names_ = survivors;
  Kill();
}

std::optional<MemoryDisk::Bytes> MemoryDisk::Read(const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return inodes_[found->second].now;
}

void MemoryDisk::Put(const std::string& name, Bytes bytes) {
  inodes_.push_back({bytes, bytes, {}, 0});
  names_[name] = inodes_.size() - 1;
  durable_names_[name] = inodes_.size() - 1;
}

void MemoryDisk::Remove(const std::string& name) {
  names_.erase(name);
  durable_names_.erase(name);
}

std::map<std::string, MemoryDisk::Bytes> MemoryDisk::Contents() const {
  std::map<std::string, Bytes> contents;
  for (const auto& [name, inode] : names_) contents[name] = inodes_[inode].now;
  return contents;
}

}  // namespace tornfs::journal
