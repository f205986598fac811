// Which of the legal states of a window are tried, when not every one can be.
//
// A window with few states is tried whole, with tears beside that: each node torn alone, and seeded
// samples of several. Of a larger one come, in this order and without
// repetition: nothing kept, everything kept, each node lost alone (with what requires it), each
// node kept alone (with what it requires), tears, a few seeded samples, pairs of nodes lost, and
// samples up to the limit. The families are those of ALICE (Pillai et al., OSDI 2014) and their
// duals.
#pragma once

#include <cstdint>
#include <vector>

#include "fusefs/core/window.h"
#include "harness/explore/spec.h"

namespace tornfs::harness {

struct ChoiceSet {
  std::vector<Choice> choices;
  bool complete = false;  // Every state the model allows is among them.
};

// At most about `limit` choices, the same for equal windows and seeds.
[[nodiscard]] ChoiceSet Choose(const Window& window, Strategy strategy, std::uint64_t limit,
                               std::uint64_t seed);

}  // namespace tornfs::harness
