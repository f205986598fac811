#include "fusefs/core/content_store.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/check.h"
#include "fusefs/core/types.h"

namespace tornfs {
namespace {

std::byte* StalePage() {
  static std::array<std::byte, kPageBytes> page = [] {
    std::array<std::byte, kPageBytes> bytes{};
    bytes.fill(ContentStore::kStaleByte);
    return bytes;
  }();
  return page.data();
}

}  // namespace

ContentStore::ContentStore(Options options) : options_(std::move(options)) {
  // The table never moves, so that another thread may read bytes while chunks are added.
  chunks_.reserve(kMaxChunks);
  chunks_.push_back(StalePage());
}

Result<std::unique_ptr<ContentStore>> ContentStore::Open(const Options& options) {
  std::unique_ptr<ContentStore> store(new ContentStore(options));
  if (!options.directory.empty()) {
    auto file = OpenFile(options.directory, O_TMPFILE | O_RDWR, 0600);
    if (!file) {
      file.error().context = "store " + options.directory;
      return tl::make_unexpected(file.error());
    }
    store->file_ = std::move(*file);
  }
  return store;
}

ContentStore::~ContentStore() {
  for (std::size_t i = 1; i < chunks_.size(); ++i) ::munmap(chunks_[i], kChunkBytes);
}

Outcome<ContentPosition> ContentStore::Append(std::span<const std::byte> bytes) {
  CHECK(bytes.size() <= kChunkBytes);
  const std::uint64_t room = chunks_.size() * kChunkBytes - end_;
  std::uint64_t position = end_;
  if (bytes.size() > room) position += room;
  const std::uint64_t limit = options_.memory_limit;
  const std::uint64_t used = position - kChunkBytes;
  if (!file_.valid() && (used > limit || bytes.size() > limit - used)) {
    return Refuse(ENOSPC);
  }
  if (bytes.size() > room) {
    if (auto added = AddChunk(); !added) return tl::make_unexpected(added.error());
  }
  std::memcpy(chunks_[position / kChunkBytes] + position % kChunkBytes, bytes.data(), bytes.size());
  end_ = position + bytes.size();
  return position;
}

Outcome<void> ContentStore::AddChunk() {
  if (chunks_.size() == kMaxChunks) return Refuse(ENOSPC);
  const auto at = static_cast<off_t>((chunks_.size() - 1) * kChunkBytes);
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (file_.valid()) {
    // Reserved now, so that a full disk is an error here and not a signal at the first touch.
    if (::posix_fallocate(file_.get(), at, kChunkBytes) != 0) return Refuse(ENOSPC);
    flags = MAP_SHARED;
  }
  void* chunk = ::mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, flags, file_.get(),
                       file_.valid() ? at : 0);
  if (chunk == MAP_FAILED) return Refuse(ENOSPC);
  if (!file_.valid()) ::madvise(chunk, kChunkBytes, MADV_HUGEPAGE);
  chunks_.push_back(static_cast<std::byte*>(chunk));
  DropColdChunks();
  return {};
}

void ContentStore::DropColdChunks() {
  if (!file_.valid() || (chunks_.size() - 1) * kChunkBytes <= options_.memory_limit) {
    return;
  }
  for (std::size_t i = 1; i + 1 < chunks_.size(); ++i) {
    ::madvise(chunks_[i], kChunkBytes, MADV_DONTNEED);
  }
}

}  // namespace tornfs
