// ReadTrace: a file, its sections, and their checksums.
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/fd.h"
#include "common/hash.h"
#include "fusefs/core/trace.h"
#include "fusefs/core/trace_decoder.h"
#include "fusefs/core/trace_format.h"

namespace tornfs {
namespace {

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Takes the sections off the front of a trace.
class SectionReader {
 public:
  SectionReader(std::string path, std::string_view file) : path_(std::move(path)), rest_(file) {}

  Status Header();
  // The payload of the next section, which must have this tag.
  Result<std::string_view> Take(std::string_view tag);
  [[nodiscard]] bool NextIs(std::string_view tag) const { return rest_.substr(0, 4) == tag; }
  Status AtEnd() const;
  [[nodiscard]] tl::unexpected<Error> Damaged(std::string_view where, std::string_view why) const {
    return Fail(ErrorCode::kCorrupt,
                path_ + ": damaged trace: " + std::string(where) + ": " + std::string(why));
  }

 private:
  std::string path_;
  std::string_view rest_;
  std::uint32_t sections_ = 0;
};

Status SectionReader::Header() {
  if (!rest_.starts_with(trace::kMagic)) return Fail(ErrorCode::kCorrupt, path_ + ": not a trace");
  if (rest_.size() < trace::kHeaderBytes) return Damaged("header", "ends early");
  const auto header = BytesOf(rest_).first(trace::kHeaderBytes);
  if (LoadLe<std::uint64_t>(header, 24) != Hash64(header.first(24))) {
    return Damaged("header", "wrong checksum");
  }
  const auto version = LoadLe<std::uint32_t>(header, 8);
  if (version < trace::kOldestVersion || version > trace::kVersion) {
    return Fail(ErrorCode::kInvalid, path_ + ": trace version " + std::to_string(version) +
                                         ", known is " + std::to_string(trace::kVersion));
  }
  if (LoadLe<std::uint64_t>(header, 16) != rest_.size()) return Damaged("header", "wrong length");
  sections_ = LoadLe<std::uint32_t>(header, 12);
  rest_.remove_prefix(trace::kHeaderBytes);
  return {};
}

Result<std::string_view> SectionReader::Take(std::string_view tag) {
  if (rest_.size() < trace::kSectionBytes) return Damaged(tag, "ends early");
  const auto head = BytesOf(rest_).first(trace::kSectionBytes);
  if (!NextIs(tag) || LoadLe<std::uint32_t>(head, 4) != 0) return Damaged(tag, "is missing");
  const auto length = LoadLe<std::uint64_t>(head, 8);
  rest_.remove_prefix(trace::kSectionBytes);
  if (length > rest_.size()) return Damaged(tag, "ends early");
  const std::string_view payload = rest_.substr(0, length);
  if (LoadLe<std::uint64_t>(head, 16) != Hash64(payload)) return Damaged(tag, "wrong checksum");
  if (sections_-- == 0) return Damaged(tag, "is one section too many");
  rest_.remove_prefix(length);
  return payload;
}

Status SectionReader::AtEnd() const {
  if (rest_.empty() && sections_ == 0) return {};
  return Damaged("end", "more follows");
}

Result<std::vector<trace::StoredRange>> TakeContents(SectionReader& sections, ContentStore& store) {
  std::vector<trace::StoredRange> ranges;
  std::uint64_t place = 0;
  while (sections.NextIs(trace::kData)) {
    const auto payload = sections.Take(trace::kData);
    if (!payload) return tl::make_unexpected(payload.error());
    if (payload->empty() || payload->size() > ContentStore::kChunkBytes) {
      return sections.Damaged(trace::kData, "impossible length");
    }
    const auto position = store.Append(BytesOf(*payload));
    if (!position) return IoError(static_cast<int>(position.error()), "store the trace's contents");
    ranges.push_back({place, payload->size(), *position});
    place += payload->size();
  }
  return ranges;
}

Status Decode(SectionReader& sections, std::string_view tag, trace::RecordDecoder& decoder,
              void (trace::RecordDecoder::*decode)(trace::ByteReader&)) {
  const auto payload = sections.Take(tag);
  if (!payload) return tl::make_unexpected(payload.error());
  trace::ByteReader in(*payload);
  (decoder.*decode)(in);
  if (in.left() > 0) in.Fail("more follows");
  if (!in.ok()) return sections.Damaged(tag, in.why());
  return {};
}

}  // namespace

Result<Trace> ReadTrace(const std::string& path, ContentStore& store) {
  const auto file = ReadFile(path);
  if (!file) return tl::make_unexpected(file.error());
  SectionReader sections(path, *file);
  if (auto header = sections.Header(); !header) return tl::make_unexpected(header.error());
  const auto head = sections.Take(trace::kHead);
  if (!head) return tl::make_unexpected(head.error());
  const auto strings = sections.Take(trace::kStrings);
  if (!strings) return tl::make_unexpected(strings.error());
  auto contents = TakeContents(sections, store);
  if (!contents) return tl::make_unexpected(contents.error());

  using Decoder = trace::RecordDecoder;
  Decoder decoder(std::move(*contents));
  trace::ByteReader table(*strings);
  decoder.Strings(table);
  if (table.left() > 0) table.Fail("more follows");
  if (!table.ok()) return sections.Damaged(trace::kStrings, table.why());
  const std::pair<std::string_view, void (Decoder::*)(trace::ByteReader&)> kParts[] = {
      {trace::kBase, &Decoder::Base},         {trace::kOps, &Decoder::Ops},
      {trace::kBirths, &Decoder::Births},     {trace::kEffects, &Decoder::Effects},
      {trace::kPromises, &Decoder::Promises}, {trace::kDurable, &Decoder::Durable}};
  for (const auto& [tag, decode] : kParts) {
    if (auto done = Decode(sections, tag, decoder, decode); !done) {
      return tl::make_unexpected(done.error());
    }
  }
  if (auto end = sections.AtEnd(); !end) return tl::make_unexpected(end.error());
  return Trace{std::string(*head), decoder.Take()};
}

}  // namespace tornfs
