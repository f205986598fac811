// The texts of fusefs/models/*.model, which are part of the program.
#pragma once

#include <span>

#include "common/embedded_file.h"

namespace tornfs {

// By file name.
[[nodiscard]] std::span<const EmbeddedFile> ModelFiles();

}  // namespace tornfs
