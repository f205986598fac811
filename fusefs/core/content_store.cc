#include "fusefs/core/content_store.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "common/check.h"
#include "common/memory.h"
#include "fusefs/core/types.h"

namespace tornfs {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kPages = ContentStore::kChunkBytes / kPage;
// Shorter runs of free pages are kept: giving them back costs more than it brings.
constexpr std::size_t kLeastRun = 16;
constexpr std::uint64_t kLookEvery = 8ULL << 20;
// What a process may take beyond the limit before it is told that memory is short.
constexpr std::uint64_t kSlack = 32ULL << 20;
constexpr std::size_t kMaxSpare = 4;
// Memory touched ahead of what is appended: as much again as the chunk holds, within these.
constexpr std::uint64_t kLeastAhead = 64ULL << 10;
constexpr std::uint64_t kMostAhead = 1ULL << 20;
// A chunk that is not full is moved only if that frees something.
constexpr std::uint64_t kLeastMove = 4ULL << 20;

void* Reserve(void* at, int flags, int fd, off_t offset) {
  return ::mmap(at, ContentStore::kChunkBytes, PROT_READ | PROT_WRITE, flags, fd, offset);
}

Result<Fd> UnnamedFile(const std::string& directory) {
  auto file = OpenFile(directory, O_TMPFILE | O_RDWR, 0600);
  if (file || (file.error().sys_errno != EOPNOTSUPP && file.error().sys_errno != EISDIR))
    return file;
  std::string path = directory + "/.tornfs-XXXXXX";
  Fd named(::mkostemp(path.data(), O_CLOEXEC));
  if (!named.valid()) return IoError(errno, path);
  if (::unlink(path.c_str()) != 0) return IoError(errno, path);
  return named;
}

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
  addresses_.reserve(kMaxChunks);
  addresses_.push_back(StalePage());
  chunks_.emplace_back();  // Without pages of its own: neither swept nor moved.
}

Result<std::unique_ptr<ContentStore>> ContentStore::Open(const Options& options) {
  std::unique_ptr<ContentStore> store(new ContentStore(options));
  if (!options.directory.empty()) {
    auto file = UnnamedFile(options.directory);
    if (!file) {
      file.error().context = "store " + options.directory;
      return tl::make_unexpected(file.error());
    }
    store->file_ = std::move(*file);
  }
  store->first_resident_ = ResidentBytes();
  return store;
}

ContentStore::~ContentStore() {
  for (std::size_t i = 1; i < addresses_.size(); ++i) {
    if (addresses_[i] != nullptr) ::munmap(addresses_[i], kChunkBytes);
  }
  for (std::byte* address : spare_) ::munmap(address, kChunkBytes);
}

std::uint64_t ContentStore::size() const {
  return held_pages_ * kPage + (current_ == SIZE_MAX ? 0 : used_);
}

std::uint64_t ContentStore::moved() const { return moved_pages_ * kPage; }

Outcome<ContentPosition> ContentStore::Append(std::span<const std::byte> bytes) {
  CHECK(bytes.size() <= kChunkBytes);
  const std::uint64_t limit = options_.memory_limit;
  if (!file_.valid() && (size() > limit || bytes.size() > limit - size())) return Refuse(ENOSPC);
  Breathe(bytes.size());
  if (tight_) Relieve();
  if (tight_) return Refuse(ENOSPC);
  if (current_ == SIZE_MAX || bytes.size() > kChunkBytes - used_) {
    if (auto added = NextChunk(); !added) return tl::make_unexpected(added.error());
  }
  if (used_ + bytes.size() > touched_) TouchAhead(used_ + bytes.size());
  std::memcpy(addresses_[current_] + used_, bytes.data(), bytes.size());
  const ContentPosition position = current_ * kChunkBytes + used_;
  used_ += bytes.size();
  appended_ += bytes.size();
  return position;
}

// The current chunk is full: from here on it is one of the others.
void ContentStore::CloseChunk() {
  if (current_ == SIZE_MAX) return;
  Chunk& chunk = chunks_[current_];
  chunk.pages = (used_ + kPage - 1) / kPage;
  chunk.held.assign(kPages, false);
  std::fill_n(chunk.held.begin(), chunk.pages, true);
  held_pages_ += chunk.pages;
  current_ = SIZE_MAX;
  used_ = kChunkBytes;
}

Outcome<void> ContentStore::NextChunk() {
  if (free_.empty() && chunks_.size() == kMaxChunks) return Refuse(ENOSPC);
  const bool touched = !spare_.empty();
  std::byte* memory = NewMemory();
  if (memory == nullptr) return Refuse(ENOSPC);
  CloseChunk();
  if (free_.empty()) {
    free_.push_back(chunks_.size());
    chunks_.emplace_back();
    addresses_.push_back(nullptr);
  }
  current_ = free_.back();
  free_.pop_back();
  addresses_[current_] = memory;
  used_ = 0;
  touched_ = touched ? kChunkBytes : 0;
  return {};
}

std::byte* ContentStore::NewMemory() {
  if (!spare_.empty()) {
    std::byte* memory = spare_.back();
    spare_.pop_back();
    return memory;
  }
  void* memory = Reserve(nullptr, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

// Of the current chunk, up to `end` and some more. Where it fails, each page is touched by itself.
void ContentStore::TouchAhead(std::uint64_t end) {
  end = std::min(end + std::clamp(end, kLeastAhead, kMostAhead), kChunkBytes);
  end = (end + kPage - 1) / kPage * kPage;
  ::madvise(addresses_[current_] + touched_, end - touched_, MADV_POPULATE_WRITE);
  touched_ = end;
}

void ContentStore::Marks::Mark(ContentPosition position, std::uint64_t length) {
  if (position == kZeros || length == 0) return;
  const std::uint64_t end = (position + length - 1) / kPage + 1;
  if (words_.size() < (end + 63) / 64) words_.resize((end + 63) / 64);
  for (std::uint64_t page = position / kPage; page < end; ++page) {
    if (page % 64 == 0 && end - page >= 64) {
      words_[page / 64] = UINT64_MAX;
      page += 63;
    } else {
      words_[page / 64] |= std::uint64_t{1} << (page % 64);
    }
  }
}

void ContentStore::Sweep(const Marks& marks) {
  if (holds_ > 0) return;
  for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    if (chunk != current_ && chunks_[chunk].pages > 0) SweepChunk(chunk, marks);
  }
  appended_ = 0;
  sweep_after_ = std::max(kChunkBytes, size());
  if (options_.memory_limit != UINT64_MAX) Relieve();
}

void ContentStore::SweepChunk(std::size_t number, const Marks& marks) {
  Chunk& chunk = chunks_[number];
  const std::size_t first = number * kPages;
  bool any = false;
  for (std::size_t page = 0; page < kPages && !any; ++page) any = marks.Has(first + page);
  if (!any) return Release(number);
  for (std::size_t page = 0; page < kPages;) {
    std::size_t end = page;
    while (end < kPages && chunk.held[end] && !marks.Has(first + end)) ++end;
    if (end - page >= kLeastRun) GiveBack(number, page, end);
    page = end + 1;
  }
}

// Nothing of the chunk is referred to.
void ContentStore::Release(std::size_t number) {
  Chunk& chunk = chunks_[number];
  held_pages_ -= chunk.pages;
  std::byte* address = std::exchange(addresses_[number], nullptr);
  if (chunk.moved) {
    moved_pages_ -= chunk.pages;
    ::munmap(address, kChunkBytes);
    (void)::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(number * kChunkBytes), kChunkBytes);
  } else if (spare_.size() < kMaxSpare && !tight_) {
    spare_.push_back(address);
  } else {
    ::munmap(address, kChunkBytes);
  }
  chunk = Chunk();
  free_.push_back(number);
}

void ContentStore::GiveBack(std::size_t number, std::size_t first_page, std::size_t end_page) {
  Chunk& chunk = chunks_[number];
  const std::size_t count = end_page - first_page;
  std::fill_n(chunk.held.begin() + static_cast<std::ptrdiff_t>(first_page), count, false);
  chunk.pages -= count;
  held_pages_ -= count;
  const std::uint64_t at = first_page * kPage;
  if (chunk.moved) {
    moved_pages_ -= count;
    (void)::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(number * kChunkBytes + at),
                      static_cast<off_t>(count * kPage));
  } else {
    ::madvise(addresses_[number] + at, count * kPage, MADV_DONTNEED);
  }
}

void ContentStore::Breathe(std::uint64_t bytes) {
  if (options_.memory_limit == UINT64_MAX) return;
  traffic_ += bytes;
  if (traffic_ < kLookEvery) return;
  Relieve();
}

std::uint64_t ContentStore::Resident() const {
  const std::uint64_t now = ResidentBytes();
  return now - std::min(now, first_resident_);
}

void ContentStore::Relieve() {
  traffic_ = 0;
  const std::uint64_t limit = options_.memory_limit;
  tight_ = false;
  if (Resident() <= limit) return;
  for (std::byte* memory : spare_) ::munmap(memory, kChunkBytes);
  spare_.clear();
  DropMoved();
  // Chunks are numbered about in the order in which they were filled.
  for (std::size_t chunk = 0; file_.valid() && chunk < chunks_.size(); ++chunk) {
    if (chunk == current_ || chunks_[chunk].pages == 0 || chunks_[chunk].moved) continue;
    if (Resident() <= limit / 4 * 3) return;
    if (!Move(chunk)) break;
  }
  if (Resident() > limit && file_.valid() && current_ != SIZE_MAX && used_ >= kLeastMove) {
    const std::size_t chunk = current_;
    CloseChunk();
    (void)Move(chunk);
  }
  if (Resident() > limit) (void)::malloc_trim(0);
  const std::uint64_t resident = Resident();
  tight_ = resident > limit && resident - limit > kSlack;
}

// To the file, and back to the same address as a mapping of it. Writing before mapping, so that a
// full disk is an error here and not a signal at some later touch.
bool ContentStore::Move(std::size_t number) {
  Chunk& chunk = chunks_[number];
  const std::uint64_t start = number * kChunkBytes;
  for (std::size_t page = 0; page < kPages;) {
    std::size_t end = page;
    while (end < kPages && chunk.held[end]) ++end;
    for (std::uint64_t at = page * kPage; at < end * kPage;) {
      const ssize_t wrote = ::pwrite(file_.get(), addresses_[number] + at, end * kPage - at,
                                     static_cast<off_t>(start + at));
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return false;
      at += static_cast<std::uint64_t>(wrote);
    }
    page = end + 1;
  }
  // A chunk that ends in a hole must be mapped to its end all the same.
  const auto end_of_chunk = static_cast<off_t>(start + kChunkBytes);
  if (::lseek(file_.get(), 0, SEEK_END) < end_of_chunk &&
      ::ftruncate(file_.get(), end_of_chunk) != 0) {
    return false;
  }
  void* mapped =
      Reserve(addresses_[number], MAP_SHARED | MAP_FIXED, file_.get(), static_cast<off_t>(start));
  CHECK(mapped == addresses_[number]);
  chunk.moved = true;
  moved_pages_ += chunk.pages;
  return true;
}

void ContentStore::DropMoved() {
  for (std::size_t chunk = 0; moved_pages_ > 0 && chunk < chunks_.size(); ++chunk) {
    if (chunks_[chunk].moved) ::madvise(addresses_[chunk], kChunkBytes, MADV_DONTNEED);
  }
}

}  // namespace tornfs
