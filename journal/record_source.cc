#include "journal/record_source.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/bytes.h"
#include "journal/format.h"

namespace tornfs::journal::cli {
namespace {

constexpr std::size_t kReadBytes = 65536;
constexpr std::size_t kBodyBytesMax = kPrepareBytesMax - kPrepareBytesMin;
constexpr std::size_t kPrefixBytes = sizeof(std::uint32_t);

tl::unexpected<Error> TooLong() {
  return Fail(ErrorKind::kUnsupported,
              "record is longer than " + std::to_string(kBodyBytesMax) + " bytes");
}

}  // namespace

Result<std::optional<std::vector<std::byte>>> RecordSource::Next() {
  return length_prefixed_ ? NextPrefixed() : NextLine();
}

Result<std::optional<RecordSource::Body>> RecordSource::NextLine() {
  std::size_t searched = 0;
  for (;;) {
    const std::byte* from = buffer_.data() + begin_;
    const void* newline = available() > searched
                              ? std::memchr(from + searched, '\n', available() - searched)
                              : nullptr;
    const std::size_t length =
        newline != nullptr ? static_cast<std::size_t>(static_cast<const std::byte*>(newline) - from)
                           : available();
    if (length > kBodyBytesMax) return TooLong();
    if (newline != nullptr) {
      Body body = Take(length);
      ++begin_;
      return body;
    }
    searched = available();
    const auto more = Fill();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) {
      if (available() == 0) return std::nullopt;
      return Take(available());
    }
  }
}

Result<std::optional<RecordSource::Body>> RecordSource::NextPrefixed() {
  for (;;) {
    if (available() >= kPrefixBytes) {
      const auto length =
          LoadLe<std::uint32_t>(std::span<const std::byte>(buffer_).subspan(begin_), 0);
      if (length > kBodyBytesMax) return TooLong();
      if (available() - kPrefixBytes >= length) {
        begin_ += kPrefixBytes;
        return Take(length);
      }
    }
    const auto more = Fill();
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) {
      if (available() == 0) return std::nullopt;
      return Fail(ErrorKind::kInvalid, "input ends inside a record");
    }
  }
}

Result<bool> RecordSource::Fill() {
  if (ended_) return false;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
  const std::size_t have = buffer_.size();
  buffer_.resize(have + kReadBytes);
  ssize_t n = 0;
  do {
    n = ::read(fd_, buffer_.data() + have, kReadBytes);
  } while (n < 0 && errno == EINTR);
  const int saved_errno = errno;
  buffer_.resize(have + (n > 0 ? static_cast<std::size_t>(n) : 0));
  if (n < 0) return IoFailure(saved_errno, "read standard input");
  ended_ = n == 0;
  return !ended_;
}

RecordSource::Body RecordSource::Take(std::size_t bytes) {
  const auto from = buffer_.begin() + static_cast<std::ptrdiff_t>(begin_);
  begin_ += bytes;
  return Body(from, from + static_cast<std::ptrdiff_t>(bytes));
}

}  // namespace tornfs::journal::cli
