// The chain rule, in the one place that append and recovery share: what may come after a state, and
// what the state is afterwards.
#pragma once

#include <cstdint>

#include "journal/error.h"
#include "journal/prepare.h"
#include "journal/slot.h"

namespace tornfs::journal {

// May `header` be the next op after `state`? Errors: kInvalid, saying what does not fit; kCapacity
// when the op numbers are used up.
[[nodiscard]] Status CheckFollows(const State& state, const PrepareHeader& header);

// Makes `header`, stored in `record_bytes` at the end of the data file, the head of `state`. A
// first record after an unknown anchor binds the anchor; a newer view ends the certificate.
void Advance(State& state, const PrepareHeader& header, std::uint64_t record_bytes);

}  // namespace tornfs::journal
