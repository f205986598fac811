#include "fusefs/core/posix_acl.h"

#include <algorithm>
#include <span>

#include "common/bytes.h"
#include "common/check.h"

namespace tornfs {
namespace {

constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kEntryBytes = 8;

}  // namespace

Outcome<PosixAcl> PosixAcl::Parse(std::string_view value) {
  const auto bytes = std::as_bytes(std::span(value.data(), value.size()));
  if (bytes.size() < kHeaderBytes || (bytes.size() - kHeaderBytes) % kEntryBytes != 0) {
    return Refuse(EINVAL);
  }
  if (LoadLe<std::uint32_t>(bytes, 0) != kVersion) return Refuse(EOPNOTSUPP);
  PosixAcl acl;
  for (std::size_t at = kHeaderBytes; at < bytes.size(); at += kEntryBytes) {
    acl.entries_.push_back({static_cast<Tag>(LoadLe<std::uint16_t>(bytes, at)),
                            LoadLe<std::uint16_t>(bytes, at + 2),
                            LoadLe<std::uint32_t>(bytes, at + 4)});
  }
  if (!acl.empty() && !acl.Valid()) return Refuse(EINVAL);
  return acl;
}

std::string PosixAcl::Value() const {
  std::string value(kHeaderBytes + entries_.size() * kEntryBytes, '\0');
  const auto bytes = std::as_writable_bytes(std::span(value));
  StoreLe(bytes, 0, kVersion);
  std::size_t at = kHeaderBytes;
  for (const Entry& entry : entries_) {
    StoreLe(bytes, at, static_cast<std::uint16_t>(entry.tag));
    StoreLe(bytes, at + 2, entry.permissions);
    StoreLe(bytes, at + 4, entry.id);
    at += kEntryBytes;
  }
  return value;
}

// Owner, users, owning group, groups, mask, others: in this order, the mask there if there are
// named users or groups.
bool PosixAcl::Valid() const {
  const auto count = [&](Tag tag) { return std::ranges::count(entries_, tag, &Entry::tag); };
  const auto known = [](const Entry& entry) {
    const auto bits = static_cast<unsigned>(entry.tag);
    return entry.permissions <= 7 && bits != 0 && bits <= 0x20 && (bits & (bits - 1)) == 0;
  };
  const bool named = count(Tag::kUser) + count(Tag::kGroup) > 0;
  return std::ranges::all_of(entries_, known) &&
         std::ranges::is_sorted(entries_, {}, &Entry::tag) && count(Tag::kOwner) == 1 &&
         count(Tag::kGroupOwner) == 1 && count(Tag::kOther) == 1 && count(Tag::kMask) <= 1 &&
         (!named || count(Tag::kMask) == 1);
}

PosixAcl::Entry& PosixAcl::Only(Tag tag) {
  const auto found = std::ranges::find(entries_, tag, &Entry::tag);
  CHECK(found != entries_.end());
  return *found;
}

PosixAcl::Entry& PosixAcl::GroupClass() {
  const auto mask = std::ranges::find(entries_, Tag::kMask, &Entry::tag);
  return mask != entries_.end() ? *mask : Only(Tag::kGroupOwner);
}

mode_t PosixAcl::Mode() const {
  PosixAcl copy = *this;
  return static_cast<mode_t>(copy.Only(Tag::kOwner).permissions << 6 |
                             copy.GroupClass().permissions << 3 |
                             copy.Only(Tag::kOther).permissions);
}

void PosixAcl::SetMode(mode_t mode) {
  Only(Tag::kOwner).permissions = static_cast<std::uint16_t>(mode >> 6 & 7);
  GroupClass().permissions = static_cast<std::uint16_t>(mode >> 3 & 7);
  Only(Tag::kOther).permissions = static_cast<std::uint16_t>(mode & 7);
}

mode_t PosixAcl::Inherit(mode_t mode) {
  SetMode(Mode() & mode);
  return Mode();
}

}  // namespace tornfs
