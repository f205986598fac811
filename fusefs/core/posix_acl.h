// PosixAcl: an access control list in the form in which Linux hands it to a filesystem, the value
// of the extended attributes system.posix_acl_access and system.posix_acl_default
// (linux/posix_acl_xattr.h): a version, then entries of tag, permissions and id, little-endian.
//
// The rules are those of POSIX.1e draft 17, 23.1, as acl(5) gives them. The kernel checks access;
// what is left to a filesystem is here: how a list and the mode bits follow each other.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fusefs/core/errno.h"

namespace tornfs {

inline constexpr std::string_view kAccessAcl = "system.posix_acl_access";
inline constexpr std::string_view kDefaultAcl = "system.posix_acl_default";

class PosixAcl {
 public:
  // Errors: EINVAL for a list that no filesystem would take, EOPNOTSUPP for another version. A
  // value without entries is a list that is empty().
  [[nodiscard]] static Outcome<PosixAcl> Parse(std::string_view value);
  [[nodiscard]] std::string Value() const;

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // The permission bits that the list shows as.
  [[nodiscard]] mode_t Mode() const;
  // True if the mode says it all, so that no list needs to be kept.
  [[nodiscard]] bool IsMode() const { return entries_.size() <= 3; }
  // Makes the list follow chmod(2).
  void SetMode(mode_t mode);
  // Makes a default list the access list of an inode created with `mode`: permissions that either
  // lacks go. Returns the inode's permission bits.
  [[nodiscard]] mode_t Inherit(mode_t mode);

 private:
  enum class Tag : std::uint16_t {
    kOwner = 0x01,
    kUser = 0x02,
    kGroupOwner = 0x04,
    kGroup = 0x08,
    kMask = 0x10,
    kOther = 0x20,
  };
  struct Entry {
    Tag tag;
    std::uint16_t permissions;  // As the low bits of a mode.
    std::uint32_t id;
  };
  [[nodiscard]] bool Valid() const;
  // The entry that the group bits of a mode stand for: the mask, or that of the group.
  [[nodiscard]] Entry& GroupClass();
  [[nodiscard]] Entry& Only(Tag tag);

  std::vector<Entry> entries_;
};

}  // namespace tornfs
