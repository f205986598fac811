#include "fusefs/core/model.h"

#include <algorithm>
#include <deque>

#include "common/check.h"
#include "common/fd.h"
#include "fusefs/core/model_files.h"
#include "fusefs/core/model_rules.h"

namespace tornfs {
namespace {

struct NamedTear {
  std::string_view name;
  Tear tear;
};
constexpr std::array<NamedTear, 4> kTears{{{"none", Tear::kNone},
                                           {"page", Tear::kPage},
                                           {"sector", Tear::kSector},
                                           {"byte", Tear::kByte}}};

// Files may be like one another, so they are read until no more can be.
std::vector<Model> ReadBuiltIns() {
  std::vector<Model> models;
  std::vector<EmbeddedFile> left(ModelFiles().begin(), ModelFiles().end());
  std::string first_error;
  while (!left.empty()) {
    const std::size_t before = left.size();
    first_error.clear();
    std::erase_if(left, [&](const EmbeddedFile& file) {
      auto model = ParseModel(file.text, file.name, models);
      if (model) {
        models.push_back(std::move(*model));
      } else if (first_error.empty()) {
        first_error = model.error().Message();
      }
      return model.has_value();
    });
    if (left.size() == before) CheckFailed(__FILE__, __LINE__, first_error.c_str());
  }
  std::ranges::stable_sort(models, {}, &Model::rank);
  return models;
}

std::deque<Model>& Added() {
  static std::deque<Model> added;
  return added;
}

}  // namespace

bool Model::AtOnce(CellKind kind) const {
  switch (kind) {
    case CellKind::kData: return false;
    case CellKind::kSize: return Get<Durable>(Rule::kSizes) == Durable::kAtOnce;
    case CellKind::kEntry: return Get<Durable>(Rule::kNames) == Durable::kAtOnce;
    case CellKind::kMode:
    case CellKind::kUid:
    case CellKind::kGid:
    case CellKind::kXattr:
    case CellKind::kFlags: return Get<Durable>(Rule::kAttributes) == Durable::kAtOnce;
  }
  return false;
}

bool Model::Whole(GroupTag group) const {
  switch (group) {
    case GroupTag::kAlone: return false;
    case GroupTag::kRename: return Get<Splitting>(Rule::kRename) == Splitting::kWhole;
    case GroupTag::kTruncate: return Get<Splitting>(Rule::kTruncate) == Splitting::kWhole;
    case GroupTag::kAcl: return true;
  }
  return false;
}

bool Model::Covers(OpKind barrier, const Effect& effect) const {
  const bool content = effect.kind == CellKind::kData || effect.kind == CellKind::kSize;
  switch (barrier) {
    case OpKind::kSyncfs: return true;
    case OpKind::kFsyncdir: return !content;
    case OpKind::kFdatasync: return content || fdatasync() == FdatasyncScope::kAsFsync;
    default: return true;  // fsync: all that is the inode's own.
  }
}

std::span<const Model> Models() {
  static const std::vector<Model> models = ReadBuiltIns();
  return models;
}

Result<const Model*> FindModel(std::string_view name) {
  std::string names;
  for (const Model& model : Models()) {
    if (model.name == name) return &model;
    names += (names.empty() ? "" : ", ") + model.name;
  }
  if (name.find('/') != std::string_view::npos || name.ends_with(".model")) {
    const auto text = ReadFile(std::string(name));
    if (!text) return tl::make_unexpected(text.error());
    return AddModel(*text, name);
  }
  return Fail(ErrorCode::kInvalid, "unknown model '" + std::string(name) + "'; known are " + names +
                                       ", or a file FILE.model");
}

Result<const Model*> AddModel(std::string_view text, std::string_view origin) {
  auto model = ParseModel(text, origin, Models());
  if (!model) return tl::make_unexpected(model.error());
  for (const Model& known : Models()) {
    if (known.name == model->name) {
      return Fail(ErrorCode::kInvalid, std::string(origin) + ": '" + model->name +
                                           "' is a built-in model; give this one another name");
    }
  }
  for (const Model& known : Added()) {
    if (known.source == model->source) return &known;
  }
  Added().push_back(std::move(*model));
  return &Added().back();
}

std::string_view TearName(Tear tear) { return kTears[static_cast<std::size_t>(tear)].name; }

Result<Tear> ParseTear(std::string_view text) {
  std::string names;
  for (const NamedTear& each : kTears) {
    if (each.name == text) return each.tear;
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return Fail(ErrorCode::kInvalid,
              "unknown tearing '" + std::string(text) + "'; known are " + names);
}

}  // namespace tornfs
