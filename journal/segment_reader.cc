#include "journal/segment_reader.h"

#include "common/check.h"

namespace tornfs::journal {

Result<File*> SegmentReader::Open(const SegmentKey& key) {
  if (key_ == key) return file_.get();
  const std::string name = RetainedName(key);
  auto opened = storage_.Open(name, OpenMode::kRead);
  if (!opened) {
    if (!IsMissing(opened.error())) return tl::make_unexpected(opened.error());
    return Fail(ErrorKind::kDamaged, name + " is missing");
  }
  file_ = std::move(*opened);
  key_ = key;
  return file_.get();
}

Status SegmentReader::Read(const SegmentReference& reference, std::span<std::byte> out) {
  CHECK(out.size() == reference.length);
  const auto file = Open(reference.segment);
  if (!file) return tl::make_unexpected(file.error());
  const auto got = (*file)->ReadAt(reference.position, out);
  if (!got) return tl::make_unexpected(got.error());
  if (*got == out.size()) return {};
  return Fail(ErrorKind::kDamaged, RetainedName(reference.segment) + " ends at byte " +
                                       std::to_string(reference.position + *got) +
                                       " inside a body");
}

Result<std::uint64_t> SegmentReader::Length(const SegmentKey& key) {
  const auto file = Open(key);
  if (!file) return tl::make_unexpected(file.error());
  return (*file)->Length();
}

}  // namespace tornfs::journal
