#include "harness/calibrate/escape.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/hash.h"
#include "harness/device/image_file.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;

constexpr const char* kImageName = "/image";
constexpr const char* kRecordName = "/escape.json";

Json StepsJson(const std::vector<StepWords>& steps) {
  Json list = Json::array();
  for (const StepWords& step : steps) list.push_back(StepText(step));
  return list;
}

// Which writes survived, of those that had been issued.
Json WritesJson(const DeviceRecording& recording, const CrashImage& image) {
  Json list = Json::array();
  const std::vector<ChosenWrite> survived = WritesOf(recording, image);
  std::size_t next = 0;
  for (std::size_t i = 0; i < recording.log.size(); ++i) {
    const IoEvent& event = recording.log[i];
    if (event.kind == IoEvent::Kind::kFlush) list.push_back({{"flush", event.issued}});
    if (event.kind == IoEvent::Kind::kMark) {
      list.push_back({{event.mark % 2 == 0 ? "begin" : "end", event.mark / 2}});
    }
    if (event.kind != IoEvent::Kind::kWrite) continue;
    Json write{{"offset", event.offset}, {"bytes", event.data.size()}, {"survived", "none"}};
    if (next < survived.size() && survived[next].event == i) {
      write["survived"] = "all";
      if (const std::vector<bool>& sectors = survived[next].sectors; !sectors.empty()) {
        std::string text;
        for (const bool sector : sectors) text += sector ? '1' : '0';
        write["survived"] = text;
      }
      ++next;
    }
    list.push_back(std::move(write));
  }
  return list;
}

}  // namespace

std::string EscapeId(const EscapeEvidence& evidence) {
  const std::string key =
      evidence.filesystem.name + "\n" + evidence.program.name + "\n" + evidence.tree;
  return "e-" + Hex16(Hash64(key)).substr(0, 12);
}

std::string EscapeSentence(const EscapeEvidence& evidence) {
  const std::size_t ended = evidence.moments.last_ended;
  const std::vector<StepWords>& steps = evidence.program.main;
  std::string when = "before any step had returned";
  if (ended > 0) {
    when = ended == steps.size() ? "after the last step" : "after step " + std::to_string(ended);
    when += " `" + StepText(steps[ended - 1]) + "` had returned";
  }
  return evidence.filesystem.name + " left " + evidence.tree + " of " + evidence.program.name +
         " (schedule " + ScheduleLetter(evidence.schedule) + ", power lost " + when +
         "), which model " + evidence.filesystem.model + " does not allow";
}

Status WriteEscape(const std::string& folder, const EscapeEvidence& evidence) {
  std::error_code failed;
  (void)std::filesystem::create_directories(folder, failed);
  if (failed) return IoError(failed.value(), "mkdir " + folder);
  const Filesystem& filesystem = evidence.filesystem;
  Json allowed = Json::array();
  for (const AllowedTree& tree : evidence.allowed.trees) {
    allowed.push_back({{"tree", tree.tree}, {"after_steps", tree.cuts}});
  }
  const Json record{
      {"sentence", EscapeSentence(evidence)},
      {"filesystem", filesystem.name},
      {"model", filesystem.model},
      {"mkfs", filesystem.mkfs},
      {"size", filesystem.size},
      {"options", filesystem.options},
      {"look_with", {{"type", filesystem.type}, {"options", filesystem.look_options}}},
      {"program", evidence.program.name},
      {"setup", StepsJson(evidence.program.setup)},
      {"main", StepsJson(evidence.program.main)},
      {"schedule", std::string(1, ScheduleLetter(evidence.schedule))},
      {"tree", evidence.tree},
      {"steps_begun", evidence.moments.last_begun},
      {"steps_ended", evidence.moments.last_ended},
      {"allowed", std::move(allowed)},
      {"device", WritesJson(evidence.recording, evidence.image)},
  };
  const Status written = WriteFile(folder + kRecordName, record.dump(1) + "\n");
  if (!written) return written;
  return WriteImageFile(folder + kImageName, BuildImage(evidence.recording, evidence.image));
}

Result<StoredEscape> ReadEscape(const std::string& folder) {
  auto text = ReadFile(folder + kRecordName);
  if (!text) return Fail(ErrorCode::kNotFound, folder + ": holds no escape");
  const Json record = Json::parse(*text, nullptr, false);
  if (!record.is_object() || !record.contains("tree") || !record.contains("look_with")) {
    return Fail(ErrorCode::kCorrupt, folder + kRecordName);
  }
  auto image = ReadImageFile(folder + kImageName);
  if (!image) return tl::make_unexpected(image.error());
  Filesystem filesystem{};
  filesystem.name = record["filesystem"];
  filesystem.type = record["look_with"]["type"];
  filesystem.look_options = record["look_with"]["options"];
  return StoredEscape{std::move(filesystem), std::move(*image), record["tree"], record["sentence"]};
}

}  // namespace tornfs::harness
