#include "harness/explore/run_board.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "common/check.h"

namespace tornfs::harness {
namespace {

constexpr std::uint64_t kAlignment = 16;

}  // namespace

std::unique_ptr<RunBoard> RunBoard::Create(std::uint64_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  return std::unique_ptr<RunBoard>(new RunBoard(memory, bytes));
}

RunBoard::~RunBoard() { ::munmap(memory_, bytes_); }

RunBoard::Mark* RunBoard::MarkAt(std::uint64_t position) const {
  return reinterpret_cast<Mark*>(static_cast<std::byte*>(memory_) + kAlignment + position);
}

// The memory is zero at first, which is what the head and every mark start with.
void RunBoard::Post(std::uint32_t kind, std::string_view bytes) {
  const std::uint64_t takes =
      sizeof(Mark) + (bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  auto& used = static_cast<Head*>(memory_)->used;
  std::uint64_t position = used.load();
  do {
    if (takes > bytes_ - kAlignment - position) return;
  } while (!used.compare_exchange_weak(position, position + takes));
  Mark* mark = MarkAt(position);
  mark->kind = kind;
  mark->length = bytes.size();
  std::memcpy(reinterpret_cast<std::byte*>(mark + 1), bytes.data(), bytes.size());
  mark->complete = 1;
}

std::optional<RunBoard::Entry> RunBoard::Next(std::uint64_t& position) const {
  if (position >= static_cast<const Head*>(memory_)->used.load()) return std::nullopt;
  const Mark* mark = MarkAt(position);
  if (mark->complete.load() == 0) return std::nullopt;
  position += sizeof(Mark) + (mark->length + kAlignment - 1) / kAlignment * kAlignment;
  return Entry{mark->kind, {reinterpret_cast<const char*>(mark + 1), mark->length}};
}

}  // namespace tornfs::harness
