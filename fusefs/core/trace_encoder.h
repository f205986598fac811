// RecordEncoder: a Recording as the payloads of a trace's sections. The inverse of RecordDecoder
// (fusefs/core/trace_decoder.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fusefs/core/recording.h"
#include "fusefs/core/trace_bytes.h"
#include "fusefs/core/trace_content.h"

namespace tornfs::trace {

class RecordEncoder {
 public:
  // `recording` must outlive the encoder.
  explicit RecordEncoder(const Recording& recording);

  [[nodiscard]] const ContentRanges& contents() const { return contents_; }
  [[nodiscard]] std::string Base();
  [[nodiscard]] std::string Ops();
  [[nodiscard]] std::string Births();
  [[nodiscard]] std::string Effects();
  [[nodiscard]] std::string Promises();
  [[nodiscard]] std::string Durable();
  // Every string the calls above referred to. Last, therefore.
  [[nodiscard]] std::string Strings() const;

 private:
  void PutString(ByteWriter& out, std::string_view text);
  void PutContent(ByteWriter& out, ContentPosition position, std::uint64_t length) const;
  static void PutTime(ByteWriter& out, Nanoseconds time, Nanoseconds since);
  // What of `now` differs from `before`. Writes nothing, not even `ino`, if that is nothing.
  // True if it wrote.
  bool PutInode(ByteWriter& out, Ino ino, const Inode& before, const Inode& now);
  void PutMore(ByteWriter& out, const Inode& now);
  void PutFields(ByteWriter& out, unsigned fields, const Inode& now);
  // Both return how many changes they wrote.
  std::uint64_t PutExtents(ByteWriter& out, const Inode& before, const Inode& now) const;
  std::uint64_t PutEntries(ByteWriter& out, const Inode& before, const Inode& now);
  void PutEffect(ByteWriter& out, const Effect& effect);
  void PutSnapshot(ByteWriter& out, const Tree& before, const Tree& now);

  const Recording& recording_;
  ContentRanges contents_;
  ByteWriter strings_;
  std::uint64_t string_count_ = 0;
  std::unordered_map<std::string, std::uint64_t> shared_strings_;
  Ino last_ino_ = kNoIno;  // Inode numbers rise within a list and are written as differences.
};

}  // namespace tornfs::trace
