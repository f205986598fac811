// RunBoard: where the workers of an exploration tell each other of their runs.
//
// Append-only, in anonymous shared memory made before the workers are forked. A writer takes room
// by one atomic addition and marks its entry complete when it is; a reader goes on from where it
// was as far as entries are complete. Nobody waits. When the memory is used up, further runs are
// not told: the others have to make them themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace tornfs::harness {

class RunBoard {
 public:
  // `bytes` of address space; memory is taken as it is used.
  [[nodiscard]] static std::unique_ptr<RunBoard> Create(std::uint64_t bytes);
  ~RunBoard();
  RunBoard(const RunBoard&) = delete;
  RunBoard& operator=(const RunBoard&) = delete;

  // `kind` is the caller's.
  void Post(std::uint32_t kind, std::string_view bytes);

  struct Entry {
    std::uint32_t kind;
    std::string_view bytes;  // Valid as long as the board.
  };
  // The entry at `position`, which is moved behind it; a reader starts with 0. Empty if there is
  // none yet.
  [[nodiscard]] std::optional<Entry> Next(std::uint64_t& position) const;

 private:
  struct Head {
    std::atomic<std::uint64_t> used;
  };
  // Before each entry. Entries start at multiples of its alignment.
  struct alignas(16) Mark {
    std::atomic<std::uint32_t> complete;
    std::uint32_t kind;
    std::uint64_t length;
  };
  RunBoard(void* memory, std::uint64_t bytes) : memory_(memory), bytes_(bytes) {}
  [[nodiscard]] Mark* MarkAt(std::uint64_t position) const;

  void* memory_;
  std::uint64_t bytes_;
};

}  // namespace tornfs::harness
