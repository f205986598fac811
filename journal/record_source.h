// The records of a stream: the bodies that `journal append` wraps into prepares.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "journal/error.h"

namespace tornfs::journal::cli {

// Splits a descriptor's bytes into records: a line each, without its newline (the last one may lack
// it), or a 4-byte little-endian length and that many bytes each.
//
// Cost: one read(2) per 64 KiB or per arrival.
class RecordSource {
 public:
  // `fd` stays the caller's.
  RecordSource(int fd, bool length_prefixed) : fd_(fd), length_prefixed_(length_prefixed) {}

  // The next body, or nothing at the end of the stream.
  // Errors: kUnsupported for a record that is too long, kInvalid for a stream that ends inside one,
  // kIo.
  [[nodiscard]] Result<std::optional<std::vector<std::byte>>> Next();

 private:
  using Body = std::vector<std::byte>;

  [[nodiscard]] Result<std::optional<Body>> NextLine();
  [[nodiscard]] Result<std::optional<Body>> NextPrefixed();
  // Reads more bytes; false at the end of the stream.
  [[nodiscard]] Result<bool> Fill();
  [[nodiscard]] Body Take(std::size_t bytes);
  [[nodiscard]] std::size_t available() const { return buffer_.size() - begin_; }

  int fd_;
  bool length_prefixed_;
  bool ended_ = false;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  // Of what is not yet taken.
};

}  // namespace tornfs::journal::cli
