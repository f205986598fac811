// Which effects a journaling filesystem has in its journal, in the order of the calls: everything
// but data and the sizes that writes make, unless the model says that these go there, too.
#pragma once

#include <cstddef>
#include <span>

#include "fusefs/core/effect.h"
#include "fusefs/core/model.h"

namespace tornfs {

// True if effects[index] is a size that a write made, not a truncation or an allocation: the same
// op wrote data that ends there. `effects` are in the order made.
[[nodiscard]] bool IsWrittenSize(std::span<const Effect> effects, std::size_t index);

// True if effects[index] is the zeroed rest of the block that a truncation cut.
[[nodiscard]] bool IsTruncatedTail(std::span<const Effect> effects, std::size_t index);

// True if effects[index] has its place in the journal of `model`, whose order is kJournal.
[[nodiscard]] bool IsJournalled(const Model& model, std::span<const Effect> effects,
                                std::size_t index);

}  // namespace tornfs
