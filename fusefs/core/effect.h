// Effect: one new version of one cell, or of a run of neighbouring data cells, made by an op.
//
// A cell is the smallest thing that survives a power loss or is lost by itself: a unit of data, a
// size, a directory entry, an attribute. Which units of data are cells depends on how writes may
// tear, so a write is one effect here and is cut into cells when a window is built
// (fusefs/core/window.h). Bringing an inode into being is no effect: an entry implies its inode's
// initial state, so a new inode is in every tree at once and merely has no name.
//
// Times are not cells: an inode's times follow the effects that survive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fusefs/core/content_store.h"
#include "fusefs/core/types.h"

namespace tornfs {

enum class CellKind : std::uint8_t {
  kData,   // Bytes [offset, offset + length) of `ino`.
  kSize,   // Size of `ino`.
  kEntry,  // Entry `name` of directory `ino`.
  kMode,   // Permission bits of `ino`.
  kUid,
  kGid,
  kXattr,  // Extended attribute of `ino`; POSIX ACLs are such.
  kFlags,  // What FS_IOC_SETFLAGS sets.
};

// Which effects of one op belong together, for models that keep them so. Effects of an op with the
// same tag other than kAlone are one group.
enum class GroupTag : std::uint8_t {
  kAlone,
  kRename,    // The two entries of a rename or an exchange.
  kTruncate,  // The size and the dropped blocks behind it.
  kAcl,       // An ACL and the mode that shows it: one transaction in every filesystem.
};

struct Effect {
  OpNumber op = 0;
  CellKind kind = CellKind::kData;
  GroupTag group = GroupTag::kAlone;
  Ino ino = kNoIno;
  std::uint64_t offset = 0;                 // kData.
  std::uint64_t length = 0;                 // kData.
  std::uint64_t value = 0;                  // kSize, kMode, kUid, kGid, kFlags.
  ContentPosition content = kZeros;         // kData.
  Ino child = kNoIno;                       // kEntry; kNoIno removes the name.
  std::shared_ptr<const std::string> name;  // kEntry; kXattr: see XattrChange.
  Nanoseconds time = 0;                     // Of the op.
};

// What a kXattr effect says. Its `name` holds the attribute's name and, behind a NUL, the value; a
// name alone removes the attribute.
struct XattrChange {
  std::string_view name;
  std::optional<std::string_view> value;

  [[nodiscard]] static XattrChange Of(std::string_view packed);
  [[nodiscard]] static std::string Pack(std::string_view name,
                                        std::optional<std::string_view> value);
};

class Tree;

// Applies `effect` to `tree`. Applying the effects of a history in order to its base gives the tree
// that processes saw. Data beyond the size stays, invisible, until a crash
// state is made of the tree (window.h, 3).
// Requires that the inodes concerned are in the tree.
void Apply(const Effect& effect, Tree& tree);

}  // namespace tornfs
