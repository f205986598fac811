#include "harness/calibrate/escape.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/hash.h"

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
Json WritesJson(const Recording& recording, const CrashImage& image) {
  Json list = Json::array();
  std::size_t next = 0;
  for (std::size_t i = 0; i < recording.log.size(); ++i) {
    const IoEvent& event = recording.log[i];
    if (event.kind == IoEvent::Kind::kFlush) list.push_back({{"flush", event.issued}});
    if (event.kind == IoEvent::Kind::kMark) {
      list.push_back({{event.mark % 2 == 0 ? "begin" : "end", event.mark / 2}});
    }
    if (event.kind != IoEvent::Kind::kWrite) continue;
    Json write{{"offset", event.offset}, {"bytes", event.data.size()}, {"survived", "none"}};
    if (next < image.writes.size() && image.writes[next].event == i) {
      write["survived"] = "all";
      if (const std::vector<bool>& sectors = image.writes[next].sectors; !sectors.empty()) {
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

Status WriteSparse(const std::string& path, const DeviceImage& image) {
  auto file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return tl::make_unexpected(file.error());
  if (::ftruncate(file->get(), static_cast<off_t>(image.size())) != 0) {
    return IoError(errno, "ftruncate " + path);
  }
  // As far as the filesystem goes, with the fill: a hole would read as zeros.
  std::uint64_t end = 0;
  image.ForEachBlock([&](std::uint64_t offset, std::span<const std::byte>) {
    end = offset + DeviceImage::kBlockBytes;
  });
  std::vector<std::byte> part(DeviceImage::kBlockBytes);
  for (std::uint64_t at = 0; at < end; at += part.size()) {
    image.Read(at, part);
    const Status written = WriteAll(file->get(), part);
    if (!written) return written;
  }
  return {};
}

Result<DeviceImage> ReadSparse(const std::string& path) {
  auto file = OpenFile(path, O_RDONLY);
  if (!file) return tl::make_unexpected(file.error());
  DeviceImage image(kDeviceBytes);
  std::vector<std::byte> block(DeviceImage::kBlockBytes);
  // Only what was written is in the file; holes are the fill again.
  for (off_t data = ::lseek(file->get(), 0, SEEK_DATA); data >= 0;) {
    const off_t hole = ::lseek(file->get(), data, SEEK_HOLE);
    for (off_t at = data; at < hole; at += static_cast<off_t>(block.size())) {
      if (::pread(file->get(), block.data(), block.size(), at) !=
          static_cast<ssize_t>(block.size())) {
        return Fail(ErrorCode::kCorrupt, path + ": cut short");
      }
      image.Write(static_cast<std::uint64_t>(at), block);
    }
    data = ::lseek(file->get(), hole, SEEK_DATA);
  }
  return image;
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
  return WriteSparse(folder + kImageName, BuildImage(evidence.recording, evidence.image));
}

Result<StoredEscape> ReadEscape(const std::string& folder) {
  auto text = ReadFile(folder + kRecordName);
  if (!text) return Fail(ErrorCode::kNotFound, folder + ": holds no escape");
  const Json record = Json::parse(*text, nullptr, false);
  if (!record.is_object() || !record.contains("tree") || !record.contains("look_with")) {
    return Fail(ErrorCode::kCorrupt, folder + kRecordName);
  }
  auto image = ReadSparse(folder + kImageName);
  if (!image) return tl::make_unexpected(image.error());
  Filesystem filesystem{};
  filesystem.name = record["filesystem"];
  filesystem.type = record["look_with"]["type"];
  filesystem.look_options = record["look_with"]["options"];
  return StoredEscape{std::move(filesystem), std::move(*image), record["tree"], record["sentence"]};
}

}  // namespace tornfs::harness
