#include "harness/on/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "common/bytes.h"
#include "common/fd.h"
#include "common/hash.h"

namespace tornfs::harness {
namespace {

constexpr std::string_view kMagic = "TORNTRCD";
constexpr std::size_t kBlock = DeviceImage::kBlockBytes;
constexpr std::size_t kSector = DeviceImage::kSectorBytes;

std::size_t BlocksOf(std::size_t bytes) { return (bytes + kBlock - 1) / kBlock; }

class Writer {
 public:
  void Number(std::uint64_t value) {
    std::array<std::byte, sizeof value> bytes{};
    StoreLe(std::span<std::byte>(bytes), 0, value);
    Bytes(bytes);
  }
  void Text(std::string_view text) {
    Number(text.size());
    text_ += text;
  }
  void Bytes(std::span<const std::byte> bytes) {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Contents by number, each once.
class Pool {
 public:
  std::uint64_t Add(std::span<const std::byte> bytes) {
    std::array<std::byte, kBlock> block{};
    std::copy(bytes.begin(), bytes.end(), block.begin());
    const auto [known, added] = numbers_.try_emplace(Hash128(block), numbers_.size());
    if (added) contents_.Bytes(block);
    return known->second;
  }
  [[nodiscard]] std::uint64_t size() const { return numbers_.size(); }
  [[nodiscard]] const std::string& contents() const { return contents_.text(); }

 private:
  std::unordered_map<Digest, std::uint64_t> numbers_;
  Writer contents_;
};

void WriteRecording(const OnRecording& recording, Pool& pool, Writer& into) {
  into.Number(static_cast<unsigned char>(ScheduleLetter(recording.schedule)));
  into.Number(recording.promises.size());
  for (const std::string& line : recording.promises) into.Text(line);
  into.Number(recording.device.base.blocks());
  recording.device.base.ForEachBlock([&](std::uint64_t offset, std::span<const std::byte> bytes) {
    into.Number(offset);
    into.Number(pool.Add(bytes));
  });
  into.Number(recording.device.log.size());
  for (const IoEvent& event : recording.device.log) {
    into.Number(static_cast<std::uint64_t>(event.kind));
    for (const std::uint64_t value : {event.issued, event.completed, event.offset,
                                      std::uint64_t{event.data.size()}, event.mark}) {
      into.Number(value);
    }
    const std::span<const std::byte> data(event.data);
    for (std::size_t at = 0; at < data.size(); at += kBlock) {
      into.Number(pool.Add(data.subspan(at, std::min(kBlock, data.size() - at))));
    }
  }
}

// After the first thing that is not there everything reads as 0, and good() is false.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::string_view Take(std::size_t size) {
    if (size > text_.size()) good_ = false;
    if (!good_) return {};
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }
  std::uint64_t Number() {
    const std::string_view taken = Take(sizeof(std::uint64_t));
    return good_ ? LoadLe<std::uint64_t>(std::as_bytes(std::span(taken)), 0) : 0;
  }
  // A number of things of which each takes `least` bytes.
  std::size_t Count(std::size_t least) {
    const std::uint64_t count = Number();
    if (count > text_.size() / least) good_ = false;
    return good_ ? count : 0;
  }
  std::string Text() { return std::string(Take(Count(1))); }
  void Refuse() { good_ = false; }

 private:
  std::string_view text_;
  bool good_ = true;
};

// The content of a number that was read, of the pool.
std::span<const std::byte> Content(std::string_view pool, Reader& reader) {
  const std::uint64_t number = reader.Number();
  if (number >= pool.size() / kBlock) {
    reader.Refuse();
    return {};
  }
  return std::as_bytes(std::span(pool).subspan(number * kBlock, kBlock));
}

IoEvent ReadEvent(std::string_view pool, Reader& reader) {
  IoEvent event;
  const std::uint64_t kind = reader.Number();
  event.kind = static_cast<IoEvent::Kind>(kind);
  event.issued = reader.Number();
  event.completed = reader.Number();
  event.offset = reader.Number();
  const std::uint64_t bytes = reader.Number();
  event.mark = reader.Number();
  const bool possible = kind <= static_cast<std::uint64_t>(IoEvent::Kind::kMark) &&
                        bytes % kSector == 0 && event.offset % kSector == 0 &&
                        bytes <= kDeviceBytes && event.offset <= kDeviceBytes - bytes;
  if (!possible) reader.Refuse();
  for (std::size_t i = 0; reader.good() && i < BlocksOf(bytes); ++i) {
    const auto content = Content(pool, reader);
    const auto size = std::min<std::uint64_t>(content.size(), bytes - i * kBlock);
    event.data.insert(event.data.end(), content.begin(),
                      content.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return event;
}

OnRecording ReadRecording(std::string_view pool, Reader& reader) {
  OnRecording recording{Schedule::kSync, {DeviceImage(kDeviceBytes), {}}, {}};
  const char letter = static_cast<char>(reader.Number());
  const auto schedule = ParseSchedules(std::string(1, letter));
  if (schedule) recording.schedule = schedule->front();
  if (!schedule) reader.Refuse();
  for (std::size_t left = reader.Count(sizeof(std::uint64_t)); left > 0; --left) {
    recording.promises.push_back(reader.Text());
  }
  for (std::size_t left = reader.Count(2 * sizeof(std::uint64_t)); left > 0; --left) {
    const std::uint64_t offset = reader.Number();
    const auto content = Content(pool, reader);
    if (offset > kDeviceBytes - kBlock || offset % kBlock != 0) reader.Refuse();
    if (reader.good()) recording.device.base.Write(offset, content);
  }
  for (std::size_t left = reader.Count(6 * sizeof(std::uint64_t)); left > 0; --left) {
    recording.device.log.push_back(ReadEvent(pool, reader));
  }
  return recording;
}

}  // namespace

bool IsOnTrace(const std::string& path) {
  const auto file = OpenFile(path, O_RDONLY | O_NONBLOCK);
  std::string start(kMagic.size(), '\0');
  return file &&
         ::read(file->get(), start.data(), start.size()) == static_cast<ssize_t>(start.size()) &&
         start == kMagic;
}

Status MustNotBeOnTrace(const std::string& path) {
  if (!IsOnTrace(path) && !IsOnTrace(path + "/trace")) return {};
  return Fail(ErrorCode::kInvalid,
              path + " was recorded by explore --on, and only replay takes it");
}

Status SaveOnCampaign(const OnCampaign& campaign, const std::string& path) {
  Pool pool;
  Writer recordings;
  recordings.Number(campaign.recordings.size());
  for (const OnRecording& recording : campaign.recordings) {
    WriteRecording(recording, pool, recordings);
  }
  Writer all;
  all.Bytes(std::as_bytes(std::span(kMagic)));
  all.Text(OnSpecToJson(campaign.spec).dump());
  all.Number(pool.size());
  all.Bytes(std::as_bytes(std::span(pool.contents())));
  all.Bytes(std::as_bytes(std::span(recordings.text())));
  all.Number(Hash64(all.text()));
  return WriteFile(path, all.text());
}

Result<OnCampaign> LoadOnCampaign(const std::string& path) {
  auto text = ReadFile(path);
  if (!text) return tl::make_unexpected(text.error());
  const auto corrupt = [&] { return Fail(ErrorCode::kCorrupt, path + " is no trace of --on"); };
  if (text->size() < sizeof(std::uint64_t)) return corrupt();
  const std::string_view body(text->data(), text->size() - sizeof(std::uint64_t));
  if (Reader(std::string_view(*text).substr(body.size())).Number() != Hash64(body)) {
    return corrupt();
  }
  Reader reader(body);
  if (reader.Take(kMagic.size()) != kMagic) return corrupt();
  auto spec = OnSpecFromJson(nlohmann::json::parse(reader.Text(), nullptr, false));
  if (!spec) return tl::make_unexpected(spec.error());
  OnCampaign campaign{std::move(*spec), {}, {}};
  const std::string_view pool = reader.Take(reader.Count(kBlock) * kBlock);
  for (std::size_t left = reader.Count(4 * sizeof(std::uint64_t)); left > 0; --left) {
    campaign.recordings.push_back(ReadRecording(pool, reader));
  }
  if (!reader.good()) return corrupt();
  NameHistory(campaign);
  return campaign;
}

}  // namespace tornfs::harness
