// What a crash can leave of a litmus program: trees as text, and the letters for what is observed.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fusefs/core/model.h"
#include "fusefs/core/recording.h"
#include "harness/litmus/program.h"

namespace tornfs::harness {

// One name of a tree.
struct NameSeen {
  std::string path;
  bool directory = false;
  std::string bytes;  // Of a file; '?' is a byte from before. Of a symbolic link "-> TARGET".
  std::uint32_t links = 1;
  unsigned mode = 0644;                  // Of a file.
  std::vector<std::string> xattrs = {};  // Names, of a file, in order.
  friend auto operator<=>(const NameSeen&, const NameSeen&) = default;
};

// Trees, each as its names by path.
using OutcomeSet = std::set<std::vector<NameSeen>>;

// "d/; f=o*10; g= nl2 m600 xuser.k": how outcomes are shown and compared.
[[nodiscard]] std::string ShowOutcome(const std::vector<NameSeen>& tree);

// The letters of the program's observations.
[[nodiscard]] std::string LettersOf(const LitmusProgram& program,
                                    const std::vector<NameSeen>& tree);

[[nodiscard]] std::vector<NameSeen> NamesOf(const Tree& tree, const ContentStore& store);

// Everything that a power loss can leave at the crash points of `recording` (or only at its end).
// Errors: kInvalid if a window has more than `kMaxStates` choices.
inline constexpr std::uint64_t kMaxStates = 1 << 20;
[[nodiscard]] Result<OutcomeSet> OutcomesOf(const Recording& recording, const Model& model,
                                            Tear tear, bool at_end, const ContentStore& store);

// Runs `program` through an engine with `model`, and looks at every crash.
// Errors: kInvalid if a step fails, and those of OutcomesOf.
[[nodiscard]] Result<OutcomeSet> RunLitmus(const LitmusProgram& program, const Model& model);

// A fingerprint of a set: FNV-1a, 64 bits, over the outcomes as text in order, each with a newline.
[[nodiscard]] std::uint64_t Fingerprint(const OutcomeSet& outcomes);

}  // namespace tornfs::harness
