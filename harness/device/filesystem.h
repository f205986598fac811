// The real filesystems that programs are run on: how each is made, mounted and read back, and the
// persistence model that claims to describe it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace tornfs::harness {

// All devices have this size; each filesystem takes as much of it as it needs.
inline constexpr std::uint64_t kDeviceBytes = 512ULL << 20;

struct Filesystem {
  std::string name;                // "ext4-nodelalloc", or what the user asked for.
  std::string type;                // As for mount(2).
  std::vector<std::string> mkfs;   // With {device}, {size}, and {id}, a worker's own UUID.
  std::string size;                // As that mkfs takes it: "16M".
  std::string options;             // While a program runs.
  std::string look_options;        // While an image is read back.
  std::string model;               // Name of the persistence model.
  bool commit_option;              // Takes commit=SECONDS.
  std::uint64_t superblock_begin;  // The range that is written whole or not at all: every
  std::uint64_t superblock_end;    // filesystem relies on that for its first block.
};

// The built-in ones: ext4 in six configurations, xfs, btrfs.
[[nodiscard]] std::span<const Filesystem> Filesystems();

// "ext4-nodelalloc", or "ext4,nodelalloc,...": a built-in one with more mount options. A set of
// options that a built-in one has is that one. Errors: kInvalid.
[[nodiscard]] Result<Filesystem> FindFilesystem(std::string_view text);

// Whether copies of one device can be mounted at the same time.
[[nodiscard]] bool MountsCopies(const Filesystem& filesystem);

// Errors: kMissing if this process may not attach loop devices, or there are none.
[[nodiscard]] Status CheckLoopDevices();

// Errors: kMissing if the kernel does not know the type or its mkfs is not installed.
[[nodiscard]] Status CheckFilesystem(const Filesystem& filesystem);

}  // namespace tornfs::harness
