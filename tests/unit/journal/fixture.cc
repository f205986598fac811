#include "fixture.h"

#include <algorithm>

#include "common/bytes.h"
#include "journal/verify.h"

namespace tornfs::journal {

Prepare MakePrepare(std::uint64_t op, std::uint64_t parent, std::string_view body,
                    std::uint32_t view) {
  PrepareHeader fields;
  fields.op = op;
  fields.parent = parent;
  fields.view = view;
  fields.group = 1;
  return BuildPrepare(fields, std::as_bytes(std::span(body.data(), body.size())));
}

std::uint64_t ChecksumOf(const Prepare& prepare) {
  return LoadLe<std::uint64_t>(prepare, prepare_at::kChecksum);
}

Status OpenJournal::Append(std::string_view body) {
  const State& state = (*journal_)->state();
  const Prepare prepare = MakePrepare(state.head + 1, state.head_checksum, body);
  const std::span<const std::byte> item(prepare);
  return (*journal_)->AppendBatch(std::span(&item, 1));
}

Status OpenJournal::AppendDurably(std::string_view body) {
  JOURNAL_TRY(Append(body));
  return (*journal_)->Sync();
}

Options Without(std::initializer_list<Rule> rules) {
  Options options;
  for (const Rule rule : rules) options.rules.SwitchOff(rule);
  return options;
}

MemoryDisk DiskWith(int count) {
  MemoryDisk disk;
  OpenJournal journal(disk);
  EXPECT_TRUE(journal.ok());
  for (int i = 1; i <= count; ++i) {
    EXPECT_TRUE(journal.AppendDurably("record " + std::to_string(i)));
  }
  MemoryDisk copy = disk;
  copy.Kill();
  return copy;
}

namespace {

MemoryDisk::Bytes FrontierOf(const MemoryDisk& disk) {
  return disk.Read(std::string(kFrontierName)).value();
}

}  // namespace

SlotReading SlotAt(const MemoryDisk& disk, std::size_t position) {
  const auto frontier = FrontierOf(disk);
  return DecodeSlot(std::span(frontier).subspan(position * kBlockBytes, kBlockBytes));
}

void PutSlot(MemoryDisk& disk, std::size_t position, const Slot& slot) {
  auto frontier = FrontierOf(disk);
  EncodeSlot(slot, std::span(frontier).subspan(position * kBlockBytes, kBlockBytes));
  disk.Put(std::string(kFrontierName), frontier);
}

void DamageSlot(MemoryDisk& disk, std::size_t position) {
  auto frontier = FrontierOf(disk);
  std::fill_n(frontier.begin() + static_cast<std::ptrdiff_t>(position * kBlockBytes), kBlockBytes,
              std::byte{0x5a});
  disk.Put(std::string(kFrontierName), frontier);
}

std::size_t NewestPosition(const MemoryDisk& disk) {
  return SlotAt(disk, 1)->sequence > SlotAt(disk, 0)->sequence ? 1 : 0;
}

std::string Refusal(MemoryDisk& disk, const Options& options) {
  const auto storage = disk.Attach();
  const auto snapshot = LoadSnapshot(*storage, options);
  return snapshot ? "" : snapshot.error().Message();
}

}  // namespace tornfs::journal
