// What the writer and the reader of traces must agree on. The format: fusefs/core/trace.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tornfs::trace {

inline constexpr std::string_view kMagic = "TORNTRC1";
inline constexpr std::uint32_t kVersion = 2;
// Of the oldest traces that are read; version 2 added what kMore tells of.
inline constexpr std::uint32_t kOldestVersion = 1;
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kSectionBytes = 24;

inline constexpr std::string_view kHead = "HEAD";
inline constexpr std::string_view kStrings = "STRS";
inline constexpr std::string_view kData = "DATA";
inline constexpr std::string_view kBase = "BASE";
inline constexpr std::string_view kOps = "OPSS";
inline constexpr std::string_view kBirths = "BORN";
inline constexpr std::string_view kEffects = "EFFS";
inline constexpr std::string_view kPromises = "PROM";
inline constexpr std::string_view kDurable = "DURA";

// A string longer than this is in the table once for each use, so that a small file cannot unfold
// into a large one.
inline constexpr std::size_t kSharedStringBytes = 255;

// Which groups of fields of an inode follow. No bit: the inode is gone.
enum InodeField : std::uint8_t {
  kOwner = 1,     // mode (with kMore), uid, gid; with kMore flags, birth time, xattrs, reserved
  kCounts = 2,    // links, subdirectories
  kSize = 4,      // size
  kTimes = 8,     // atime, mtime, ctime, each as the signed difference to the time of the start
  kPlace = 16,    // parent, name
  kFixed = 32,    // device, target
  kExtents = 64,  // dropped ranges, then extents
  kEntries = 128  // names and where they lead
};

// A bit of the mode field that no mode has: more fields follow the gid.
inline constexpr std::uint32_t kMore = 0x10000;

// The first byte of an effect: its kind, and its group shifted by this.
inline constexpr unsigned kGroupShift = 4;

}  // namespace tornfs::trace
