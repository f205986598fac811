// Fence: a barrier that the program does not make and that would keep a failure from happening.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "fusefs/core/types.h"

namespace tornfs::harness {

struct Fence {
  OpKind barrier = OpKind::kFsync;  // kFdatasync, kFsync or kFsyncdir.
  std::string path;                 // Of what is to be synced; "" for the top directory.
  OpNumber after = 0;               // Behind this op, and behind each run of ops like it.
  OpKind after_kind = OpKind::kWrite;
  std::uint64_t states = 0;  // Failing states that are no longer legal.

  // "fsync `config.tmp` after op 2 (write)".
  [[nodiscard]] std::string Text() const;
};

// The kind of that name (OpKindName); kWrite for a name that no kind has.
[[nodiscard]] OpKind KindOf(const std::string& name);

[[nodiscard]] nlohmann::json FenceToJson(const Fence& fence);
// Errors: throws nlohmann::json::exception for what FenceToJson did not make.
[[nodiscard]] Fence FenceFromJson(const nlohmann::json& json);

}  // namespace tornfs::harness
