#include "harness/explore/fence.h"

#include <nlohmann/json.hpp>

namespace tornfs::harness {

OpKind KindOf(const std::string& name) {
  for (int kind = 0; kind < kOpKinds; ++kind) {
    if (OpKindName(static_cast<OpKind>(kind)) == name) return static_cast<OpKind>(kind);
  }
  return OpKind::kWrite;
}

std::string Fence::Text() const {
  const bool directory = barrier == OpKind::kFsyncdir;
  const std::string call = directory ? "fsync" : std::string(OpKindName(barrier));
  const std::string what = path.empty() ? "the top directory"
                           : directory  ? "the directory `" + path + "`"
                                        : "`" + path + "`";
  return call + " " + what + " after op " + std::to_string(after) + " (" +
         std::string(OpKindName(after_kind)) + ")";
}

nlohmann::json FenceToJson(const Fence& fence) {
  return {{"barrier", OpKindName(fence.barrier)},
          {"path", fence.path},
          {"after", fence.after},
          {"after_kind", OpKindName(fence.after_kind)},
          {"states", fence.states},
          {"text", fence.Text()}};
}

Fence FenceFromJson(const nlohmann::json& json) {
  Fence fence;
  fence.barrier = KindOf(json.at("barrier").get<std::string>());
  fence.after_kind = KindOf(json.at("after_kind").get<std::string>());
  json.at("path").get_to(fence.path);
  json.at("after").get_to(fence.after);
  json.at("states").get_to(fence.states);
  return fence;
}

}  // namespace tornfs::harness
