// Sides: one random operation at a time, on two directories that must go on being the same.
//
// Paths are drawn from few names, so that operations meet: most fail as often as they succeed, and
// the errno is compared too. Up to kSlots files stay open, some of them mapped.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/fd.h"
#include "common/rng.h"

namespace tornfs {

class Sides {
 public:
  // Two empty directories.
  Sides(std::string one, std::string other, std::uint64_t seed);
  ~Sides();
  Sides(const Sides&) = delete;
  Sides& operator=(const Sides&) = delete;

  // Does an operation on both sides. Returns what differs, or nothing.
  [[nodiscard]] std::string Step();
  // Has the stores through mappings written, so that the trees can be compared.
  void Flush();
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  static constexpr std::size_t kSlots = 8;
  static constexpr std::uint64_t kMaxBytes = 1 << 20;
  struct Slot {
    std::array<Fd, 2> file;
    std::array<std::byte*, 2> map{};
    std::uint64_t mapped = 0;
  };

  [[nodiscard]] std::string AnyPath();
  [[nodiscard]] std::string AnyBytes();
  [[nodiscard]] std::uint64_t AnyOffset();
  [[nodiscard]] Slot& AnySlot() { return slots_[rng_.Below(kSlots)]; }

  [[nodiscard]] std::string OnNames();
  [[nodiscard]] std::string OnAttributes();
  [[nodiscard]] std::string OnXattrs();
  [[nodiscard]] std::string OnFiles();
  [[nodiscard]] std::string Open(Slot& slot);
  [[nodiscard]] std::string Unnamed();
  [[nodiscard]] std::string Read(Slot& slot);
  [[nodiscard]] std::string Write(Slot& slot);
  [[nodiscard]] std::string Resize(Slot& slot);
  [[nodiscard]] std::string Map(Slot& slot);
  [[nodiscard]] std::string Copy();
  [[nodiscard]] std::string Look();
  static void Unmap(Slot& slot);

  // Calls `call(side)` for both and compares results and errno.
  template <class Call>
  [[nodiscard]] std::string Both(std::string what, Call&& call);

  std::array<Fd, 2> roots_;
  Rng rng_;
  std::array<Slot, kSlots> slots_;
  std::string last_;
};

}  // namespace tornfs
