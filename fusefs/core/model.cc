#include "fusefs/core/model.h"

#include <array>

namespace tornfs {
namespace {

constexpr std::array<Model, 4> kModels{{
    {.name = "posix",
     .about = "data by fsync of the file, names by fsync of the directory, renames whole, fresh "
              "blocks read as zeros; all else independent"},
    {.name = "lazyfs",
     .about = "as LazyFS: names, sizes and attributes durable at once, data by fsync only",
     .entries_at_once = true,
     .sizes_at_once = true,
     .attributes_at_once = true},
    {.name = "prefix-torn",
     .about = "ops become durable in order; the last write may be torn",
     .order = Order::kTotal},
    {.name = "strict",
     .about = "ops become durable in order and whole",
     .order = Order::kTotal,
     .never_torn = true},
}};

template <class Range>
std::string Names(const Range& range) {
  std::string names;
  for (const auto& each : range) {
    if (!names.empty()) names += ", ";
    names += each.name;
  }
  return names;
}

struct NamedTear {
  std::string_view name;
  Tear tear;
};
constexpr std::array<NamedTear, 4> kTears{{{"none", Tear::kNone},
                                           {"page", Tear::kPage},
                                           {"sector", Tear::kSector},
                                           {"byte", Tear::kByte}}};

}  // namespace

bool Model::AtOnce(CellKind kind) const {
  switch (kind) {
    case CellKind::kData: return false;
    case CellKind::kSize: return sizes_at_once;
    case CellKind::kEntry: return entries_at_once;
    case CellKind::kMode:
    case CellKind::kUid:
    case CellKind::kGid:
    case CellKind::kXattr:
    case CellKind::kFlags: return attributes_at_once;
  }
  return false;
}

bool Model::Whole(GroupTag group) const {
  switch (group) {
    case GroupTag::kAlone: return false;
    case GroupTag::kRename: return rename_whole;
    case GroupTag::kTruncate: return truncate_whole;
    case GroupTag::kAcl: return true;
  }
  return false;
}

bool Model::Covers(OpKind barrier, const Effect& effect) const {
  const bool content = effect.kind == CellKind::kData || effect.kind == CellKind::kSize;
  switch (barrier) {
    case OpKind::kSyncfs: return true;
    case OpKind::kFsyncdir: return !content;
    case OpKind::kFdatasync: return content || !fdatasync_skips_attributes;
    default: return true;  // fsync: all that is the inode's own.
  }
}

std::span<const Model> Models() { return kModels; }

Result<const Model*> FindModel(std::string_view name) {
  for (const Model& model : kModels) {
    if (model.name == name) return &model;
  }
  return Fail(ErrorCode::kInvalid,
              "unknown model '" + std::string(name) + "'; known are " + Names(kModels));
}

std::string_view TearName(Tear tear) { return kTears[static_cast<std::size_t>(tear)].name; }

Result<Tear> ParseTear(std::string_view text) {
  for (const NamedTear& each : kTears) {
    if (each.name == text) return each.tear;
  }
  return Fail(ErrorCode::kInvalid,
              "unknown tearing '" + std::string(text) + "'; known are " + Names(kTears));
}

}  // namespace tornfs
