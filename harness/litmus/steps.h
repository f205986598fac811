// Carrying out the steps of a litmus program on an engine, as the mount would.
#pragma once

#include <map>
#include <string>

#include "fusefs/core/engine.h"
#include "harness/litmus/program.h"

namespace tornfs::harness {

// Files without a name, by what the program calls them.
using UnnamedFiles = std::map<std::string, Ino>;

// A write that begins inside a page comes in two parts, as the kernel sends it.
// Errors: kInvalid, with the step and the errno in the text.
[[nodiscard]] Status Perform(const LitmusStep& step, Engine& engine, UnnamedFiles& unnamed);

}  // namespace tornfs::harness
