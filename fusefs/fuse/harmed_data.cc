#include "fusefs/fuse/harmed_data.h"

#include <algorithm>

namespace tornfs {
namespace {

constexpr std::uint64_t kBitsPerByte = 8;

void Harm(std::span<std::byte> data, const Fault& fault) {
  if (data.empty()) return;
  if (fault.kind == Fault::Kind::kFlip) {
    const std::uint64_t bit = fault.amount % (data.size() * kBitsPerByte);
    data[bit / kBitsPerByte] ^= std::byte{1} << (bit % kBitsPerByte);
  } else if (fault.kind == Fault::Kind::kZero) {
    std::ranges::fill(data.first(std::min<std::size_t>(data.size(), kSectorBytes)), std::byte{0});
  }
}

}  // namespace

HarmedWrite::HarmedWrite(std::uint64_t offset, std::span<const std::byte> data,
                         const std::optional<Fault>& fault)
    : offset_(offset), bytes_(data) {
  if (!fault) return;
  switch (fault->kind) {
    case Fault::Kind::kShort:
      // A write of nothing would be no short write but an error.
      bytes_ =
          data.first(std::min<std::size_t>(data.size(), std::max<std::uint64_t>(1, fault->amount)));
      short_ = bytes_.size() < data.size();
      break;
    case Fault::Kind::kMisdirect: offset_ += kPageBytes; break;
    case Fault::Kind::kFlip:
    case Fault::Kind::kZero:
      copy_.assign(data.begin(), data.end());
      Harm(copy_, *fault);
      bytes_ = copy_;
      break;
    default: break;
  }
}

std::string_view HarmedRead(MountContext& context, const Fault& fault) {
  context.buffer.clear();
  for (const iovec& piece : context.pieces) {
    const char* bytes = static_cast<const char*>(piece.iov_base);
    context.buffer.insert(context.buffer.end(), bytes, bytes + piece.iov_len);
  }
  Harm(std::as_writable_bytes(std::span(context.buffer)), fault);
  return {context.buffer.data(), context.buffer.size()};
}

}  // namespace tornfs
