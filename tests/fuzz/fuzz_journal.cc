// fuzz_journal DECODER [SECONDS] [SEED]: feeds mutated bytes to one decoder of the journal. A
// crash, a CHECK or a sanitizer's report is the finding; the seed that led there is printed first.
//
// What is accepted must encode to the same meaning again: a decoder that is too lenient is a
// finding as well. Half of the inputs get a right checksum, so that what lies behind it is reached.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/check.h"
#include "common/hash.h"
#include "common/rng.h"
#include "journal/batch.h"
#include "journal/index.h"
#include "journal/promises.h"
#include "journal/record.h"
#include "journal/slot.h"
#include "memory_disk.h"

namespace tornfs::journal {
namespace {

using Bytes = std::vector<std::byte>;

struct Target {
  Bytes (*sound)(Rng&);          // A good input.
  void (*reseal)(Bytes&);        // Makes its checksums right again.
  bool (*decode)(const Bytes&);  // Whether it was accepted.
};

SegmentState SoundSegments(Rng& rng) {
  const std::uint64_t start = rng.Below(1000);
  const SegmentCursor cursor{{rng.Below(5), start}, 300, start + 1 + rng.Below(9)};
  return {1 + rng.Below(kSegmentBytesMax), 5 + rng.Below(9), cursor, cursor};
}

Bytes SoundSlot(Rng& rng) {
  State state;
  state.length = kBlockBytes * rng.Below(100);
  state.head = rng.Below(100);
  state.anchor_known = true;
  if (rng.Below(2) == 0) state.certified_log_view = static_cast<std::uint32_t>(rng.Below(9));
  if (rng.Below(2) == 0) {
    state.references = true;
    state.segments = SoundSegments(rng);
  }
  Bytes bytes(kBlockBytes);
  EncodeSlot({state, 1 + rng.Below(1000)}, bytes);
  return bytes;
}

void ResealSlot(Bytes& bytes) {
  if (bytes.size() != kBlockBytes) return;
  StoreLe(std::span(bytes), slot_at::kChecksum,
          Hash64(std::span<const std::byte>(bytes).subspan(slot_at::kChecked)));
}

bool DecodeOneSlot(const Bytes& bytes) {
  const auto slot = DecodeSlot(bytes);
  if (!slot) {
    CHECK(!SlotFaultText(slot.error()).empty());
    return false;
  }
  Bytes again(kBlockBytes);
  EncodeSlot(*slot, again);
  const auto second = DecodeSlot(again);
  CHECK(second && second->state == slot->state && second->sequence == slot->sequence);
  return true;
}

void KeepAsIs(Bytes&) {}

Bytes SoundBatch(Rng& rng) {
  BatchHeader header;
  header.base_offset = rng.Next();
  header.base_offset >>= 1;
  header.message_count = static_cast<std::uint32_t>(1 + rng.Below(5));
  return BuildBatch(header, Bytes(rng.Below(300), std::byte{'m'}));
}

bool DecodeOneBatch(const Bytes& bytes) {
  const auto batch = DecodeBatch(bytes);
  if (!batch) return false;
  CHECK(BuildBatch(*batch, std::span(bytes).subspan(kBatchHeaderBytes)) == bytes);
  return true;
}

Bytes SoundPrepare(Rng& rng) {
  PrepareHeader fields;
  fields.op = rng.Next();
  fields.group = 1;
  if (rng.Below(2) == 0) {
    fields.operation = kOperationMessages;
    return BuildPrepare(fields, SoundBatch(rng));
  }
  return BuildPrepare(fields, Bytes(rng.Below(300), std::byte{'p'}));
}

bool DecodeOnePrepare(const Bytes& bytes) {
  const auto entry = DescribePrepare(bytes, true);
  if (entry) CHECK(entry->payload_bytes == bytes.size());
  return entry.has_value();
}

Bytes SoundRecords(Rng& rng) {
  Bytes file;
  for (std::uint64_t n = 1 + rng.Below(3); n > 0; --n) {
    const Bytes prepare = SoundPrepare(rng);
    const std::size_t at = file.size();
    file.resize(at + RecordLength(prepare.size()).value());
    EncodeRecord(0, prepare, std::span(file).subspan(at));
  }
  return file;
}

void ResealRecord(Bytes& bytes) {
  if (bytes.size() < kBlockBytes) return;
  const auto payload = LoadLe<std::uint32_t>(bytes, record_at::kPayloadLength);
  if (payload > bytes.size() - record_at::kPayload) return;
  StoreLe<std::uint64_t>(std::span(bytes), record_at::kChecksum, 0);
  StoreLe(std::span(bytes), record_at::kChecksum,
          Hash64(std::span<const std::byte>(bytes).first(record_at::kPayload + payload)));
}

// Reads the first `limit` bytes of a data file of generation 0. Without a segment a reference is
// refused.
bool ReadRecords(const Bytes& bytes, std::uint64_t limit, const Bytes* segment) {
  MemoryDisk disk;
  disk.Put(DataFileName(0), bytes);
  if (segment != nullptr) disk.Put(RetainedName({0, 0}), *segment);
  const auto storage = disk.Attach();
  const auto file = storage->Open(DataFileName(0), OpenMode::kRead);
  SegmentReader segments(*storage);
  RecordReader reader(**file, 0, 0, limit, segment != nullptr ? &segments : nullptr);
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    if (!record) return false;
    CHECK(record->entry.position + record->entry.length == reader.position());
    CHECK(record->entry.payload_bytes == record->prepare.size());
  }
  return true;
}

bool DecodeRecords(const Bytes& bytes) { return ReadRecords(bytes, bytes.size(), nullptr); }

// One record, and behind its block the body that it refers to: the input is data file and segment.
Bytes SoundReferenceRecord(Rng& rng) {
  const Bytes body = SoundBatch(rng);
  PrepareHeader fields;
  fields.op = rng.Next();
  fields.group = 1;
  fields.operation = kOperationMessages;
  const Bytes prepare = BuildPrepare(fields, body);
  Bytes bytes(kBlockBytes);
  EncodeReferenceRecord(0, std::span(prepare).first(prepare_at::kBody),
                        {{0, 0}, kBlockBytes, body.size()}, bytes);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

bool DecodeReferenceRecord(const Bytes& bytes) {
  return ReadRecords(bytes, std::min<std::uint64_t>(bytes.size(), kBlockBytes), &bytes);
}

Bytes SoundReference(Rng& rng) {
  Bytes bytes(kReferenceBytes);
  EncodeReference({{rng.Next(), rng.Next()}, rng.Next(), 256 + rng.Below(1000)}, bytes);
  return bytes;
}

bool DecodeOneReference(const Bytes& bytes) {
  if (bytes.size() != kReferenceBytes) return false;
  const SegmentReference reference = DecodeReference(bytes);
  Bytes again(kReferenceBytes);
  EncodeReference(reference, again);
  CHECK(again == bytes);
  PrepareHeader header;
  header.operation = kOperationMessages;
  header.size = static_cast<std::uint32_t>(prepare_at::kBody + reference.length);
  if (!IsValid(reference, header)) return false;
  CHECK(reference.end() >= reference.position);
  CHECK(ParseRetainedName(RetainedName(reference.segment)) == reference.segment);
  return true;
}

Bytes SoundSegmentState(Rng& rng) {
  Bytes bytes(slot_at::kSegmentStateBytes);
  EncodeSegmentState(SoundSegments(rng), bytes);
  return bytes;
}

bool DecodeSegments(const Bytes& bytes) {
  if (bytes.size() != slot_at::kSegmentStateBytes) return false;
  SegmentState state = DecodeSegmentState(bytes);
  if (!IsValid(state)) return false;
  const std::uint64_t next = state.tail.next_offset;
  if (next == UINT64_MAX || state.tail.length > kSegmentBytesMax) return true;
  const auto place = Reserve(state, next, next + 1, 300);
  CHECK(!place || IsValid(state));
  return true;
}

Bytes SoundIndex(Rng& rng) {
  std::vector<IndexEntry> entries;
  for (std::uint64_t i = 0; i <= rng.Below(5); ++i) entries.push_back({7 + i, rng.Next(), i * 300});
  return EncodeIndex(entries);
}

bool DecodeOneIndex(const Bytes& bytes) {
  const auto entries = DecodeIndex(bytes);
  const Bytes again = EncodeIndex(entries);
  CHECK(again.size() <= bytes.size() && std::equal(again.begin(), again.end(), bytes.begin()));
  return IndexContradiction(entries, 7).empty();
}

Bytes SoundPromises(Rng& rng) {
  const std::string text = "truncating " + std::to_string(rng.Below(99)) + "\nack " +
                           std::to_string(rng.Below(99)) + " " + Hex16(rng.Next()) + "\n";
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

bool DecodePromises(const Bytes& bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return !ParsePromises(text).empty();
}

const std::map<std::string, Target>& Targets() {
  static const std::map<std::string, Target> targets{
      {"slot", {SoundSlot, ResealSlot, DecodeOneSlot}},
      {"record", {SoundRecords, ResealRecord, DecodeRecords}},
      {"reference-record", {SoundReferenceRecord, ResealRecord, DecodeReferenceRecord}},
      {"prepare", {SoundPrepare, KeepAsIs, DecodeOnePrepare}},
      {"batch", {SoundBatch, KeepAsIs, DecodeOneBatch}},
      {"reference", {SoundReference, KeepAsIs, DecodeOneReference}},
      {"segments", {SoundSegmentState, KeepAsIs, DecodeSegments}},
      {"index", {SoundIndex, KeepAsIs, DecodeOneIndex}},
      {"promises", {SoundPromises, KeepAsIs, DecodePromises}}};
  return targets;
}

void Mutate(Bytes& bytes, Rng& rng) {
  for (std::uint64_t n = rng.Below(4); n > 0 && !bytes.empty(); --n) {
    // Formats live at the start.
    const std::size_t reach =
        rng.Below(2) == 0 ? std::min<std::size_t>(bytes.size(), 512) : bytes.size();
    const std::size_t at = rng.Below(reach);
    switch (rng.Below(6)) {
      case 0: bytes[at] ^= static_cast<std::byte>(1U << rng.Below(8)); break;
      case 1: bytes[at] = static_cast<std::byte>(rng.Below(256)); break;
      case 2:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min<std::size_t>(8, bytes.size() - at), std::byte{0xff});
        break;
      case 3:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min<std::size_t>(8, bytes.size() - at), std::byte{0});
        break;
      case 4: bytes.resize(at); break;
      default: bytes.resize(bytes.size() + rng.Below(5000)); break;
    }
  }
}

int Run(const Target& target, std::chrono::seconds length, std::uint64_t seed) {
  const auto end = std::chrono::steady_clock::now() + length;
  std::uint64_t tried = 0;
  std::uint64_t accepted = 0;
  do {
    Rng rng(seed + tried);
    Bytes bytes = target.sound(rng);
    CHECK(target.decode(bytes));
    Mutate(bytes, rng);
    if (rng.Below(2) == 0) target.reseal(bytes);
    accepted += target.decode(bytes) ? 1 : 0;
    ++tried;
  } while (tried % 64 != 0 || std::chrono::steady_clock::now() < end);
  std::printf("%llu inputs, %llu accepted\n", static_cast<unsigned long long>(tried),
              static_cast<unsigned long long>(accepted));
  return accepted > 0 && accepted < tried ? 0 : 1;
}

}  // namespace
}  // namespace tornfs::journal

int main(int argc, char** argv) {
  const auto& targets = tornfs::journal::Targets();
  const auto target = argc > 1 ? targets.find(argv[1]) : targets.end();
  if (target == targets.end()) {
    std::fputs("usage: fuzz_journal DECODER [SECONDS] [SEED]\n", stderr);
    return 2;
  }
  const long seconds = argc > 2 ? std::atol(argv[2]) : 1;
  const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atoll(argv[3]) : 1);
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return tornfs::journal::Run(target->second, std::chrono::seconds(seconds), seed);
}
