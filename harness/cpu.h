// Which cores there are, and staying on one of them.
#pragma once

#include <vector>

#include "common/result.h"

namespace tornfs::harness {

// The cores the calling thread may run on, ascending. Never empty.
[[nodiscard]] std::vector<int> AvailableCores();

// Keeps the calling thread, and what it starts from now on, on `core`. Errors: kIo.
[[nodiscard]] Status PinToCore(int core);

}  // namespace tornfs::harness
