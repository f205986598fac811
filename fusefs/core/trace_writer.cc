// WriteTrace: the sections of a trace into a file.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/fd.h"
#include "common/hash.h"
#include "fusefs/core/trace.h"
#include "fusefs/core/trace_encoder.h"
#include "fusefs/core/trace_format.h"

namespace tornfs {
namespace {

struct Section {
  std::string_view tag;
  std::span<const std::byte> payload;
};

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Status WriteHeader(int fd, std::span<const Section> sections) {
  std::uint64_t length = trace::kHeaderBytes;
  for (const Section& section : sections) length += trace::kSectionBytes + section.payload.size();
  std::array<std::byte, trace::kHeaderBytes> header{};
  std::memcpy(header.data(), trace::kMagic.data(), trace::kMagic.size());
  StoreLe(std::span(header), 8, trace::kVersion);
  StoreLe(std::span(header), 12, static_cast<std::uint32_t>(sections.size()));
  StoreLe(std::span(header), 16, length);
  StoreLe(std::span(header), 24, Hash64(std::span<const std::byte>(header).first(24)));
  return WriteAll(fd, header);
}

Status WriteSection(int fd, const Section& section) {
  std::array<std::byte, trace::kSectionBytes> head{};
  std::memcpy(head.data(), section.tag.data(), section.tag.size());
  StoreLe(std::span(head), 8, std::uint64_t{section.payload.size()});
  StoreLe(std::span(head), 16, Hash64(section.payload));
  if (auto written = WriteAll(fd, head); !written) return written;
  return WriteAll(fd, section.payload);
}

Status WriteSections(const std::string& path, std::span<const Section> sections) {
  auto file = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return tl::make_unexpected(file.error());
  auto written = WriteHeader(file->get(), sections);
  for (std::size_t i = 0; written && i < sections.size(); ++i) {
    written = WriteSection(file->get(), sections[i]);
  }
  if (!written) written.error().context = path;
  return written;
}

}  // namespace

Status WriteTrace(const std::string& path, const std::string& header_json,
                  const Recording& recording, const ContentStore& store) {
  trace::RecordEncoder encoder(recording);
  const std::string base = encoder.Base();
  const std::string ops = encoder.Ops();
  const std::string births = encoder.Births();
  const std::string effects = encoder.Effects();
  const std::string promises = encoder.Promises();
  const std::string durable = encoder.Durable();
  const std::string strings = encoder.Strings();
  std::vector<Section> sections{{trace::kHead, BytesOf(header_json)},
                                {trace::kStrings, BytesOf(strings)}};
  for (const auto& range : encoder.contents().ranges()) {
    sections.push_back({trace::kData, {store.At(range.position), range.length}});
  }
  sections.push_back({trace::kBase, BytesOf(base)});
  sections.push_back({trace::kOps, BytesOf(ops)});
  sections.push_back({trace::kBirths, BytesOf(births)});
  sections.push_back({trace::kEffects, BytesOf(effects)});
  sections.push_back({trace::kPromises, BytesOf(promises)});
  sections.push_back({trace::kDurable, BytesOf(durable)});

  const std::string unfinished = path + ".tmp";
  auto written = WriteSections(unfinished, sections);
  if (written && ::rename(unfinished.c_str(), path.c_str()) != 0) written = IoError(errno, path);
  if (!written) ::unlink(unfinished.c_str());
  return written;
}

}  // namespace tornfs
