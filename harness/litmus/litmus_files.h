// The texts of tests/litmus/*.litmus and of golden.txt, which are part of the program.
#pragma once

#include <span>

#include "common/embedded_file.h"

namespace tornfs {

// By file name.
[[nodiscard]] std::span<const EmbeddedFile> LitmusFiles();

}  // namespace tornfs
