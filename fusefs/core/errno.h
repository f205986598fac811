// Outcome<T>: what the engine answers a program. A program on the mount knows nothing but errno, so
// the error is one, without text and without cost on the hot path.
#pragma once

#include <cerrno>
#include <tl/expected.hpp>

namespace tornfs {

// A positive errno value.
enum class Errno : int {};

template <class T>
using Outcome = tl::expected<T, Errno>;

[[nodiscard]] inline tl::unexpected<Errno> Refuse(int value) {
  return tl::make_unexpected(static_cast<Errno>(value));
}

}  // namespace tornfs
