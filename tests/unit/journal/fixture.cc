#include "fixture.h"

#include <algorithm>

#include "common/bytes.h"
#include "journal/batch.h"
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

Prepare MakeMessages(std::uint64_t op, std::uint64_t parent, std::uint64_t base_offset,
                     std::string_view text, std::uint32_t count) {
  PrepareHeader fields;
  fields.op = op;
  fields.parent = parent;
  fields.group = 1;
  fields.operation = kOperationMessages;
  BatchHeader batch;
  batch.base_offset = base_offset;
  batch.message_count = count;
  return BuildPrepare(fields,
                      BuildBatch(batch, std::as_bytes(std::span(text.data(), text.size()))));
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

Status OpenJournal::AppendMessage(std::string_view text) {
  const State& state = (*journal_)->state();
  const Prepare prepare =
      MakeMessages(state.head + 1, state.head_checksum, (*journal_)->next_offset(), text);
  const std::span<const std::byte> item(prepare);
  return (*journal_)->AppendBatch(std::span(&item, 1));
}

Status OpenJournal::AppendReference(std::uint64_t generation, std::uint64_t start_offset,
                                    std::string_view text) {
  const State& state = (*journal_)->state();
  const Prepare prepare =
      MakeMessages(state.head + 1, state.head_checksum, (*journal_)->next_offset(), text);
  const auto body = std::span<const std::byte>(prepare).subspan(prepare_at::kBody);
  const auto file = storage_->Open(InPartition(PublicName(start_offset)), OpenMode::kEnsure);
  if (!file) return tl::make_unexpected(file.error());
  const auto position = (*file)->Length();
  if (!position) return tl::make_unexpected(position.error());
  JOURNAL_TRY((*file)->WriteAt(*position, body));
  JOURNAL_TRY((*file)->Sync());
  JOURNAL_TRY(storage_->SyncPartition());
  const ReferencedPrepare item{prepare, {{generation, start_offset}, *position, body.size()}};
  return (*journal_)->AppendReferences(std::span(&item, 1));
}

MemoryDisk DiskWithSegments(int count, std::uint64_t segment_bytes) {
  MemoryDisk disk;
  OpenJournal journal(disk);
  EXPECT_TRUE(journal.ok());
  EXPECT_TRUE(journal->EnableSegments(0, segment_bytes));
  for (int i = 1; i <= count; ++i) {
    EXPECT_TRUE(journal.AppendMessage("message " + std::to_string(i)));
    EXPECT_TRUE(journal->Sync());
  }
  MemoryDisk copy = disk;
  copy.Kill();
  return copy;
}

std::vector<std::string> Messages(Journal& journal) {
  std::vector<std::string> texts;
  if (journal.entries().empty()) return texts;
  const Status done = journal.ForEach(
      journal.first_op(), [&texts](const PrepareHeader& header, PrepareView prepare) {
        if (header.operation != kOperationMessages) return true;
        const auto text = prepare.subspan(prepare_at::kBody + kBatchHeaderBytes);
        texts.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
        return true;
      });
  EXPECT_TRUE(done) << done.error().Message();
  return texts;
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
