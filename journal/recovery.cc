#include "journal/recovery.h"

#include <array>

#include "common/check.h"
#include "common/hash.h"
#include "journal/chain.h"

namespace tornfs::journal {
namespace {

// Without a frontier a directory may hold only what an interrupted first open leaves behind.
Status RequireFreshDirectory(Storage& storage) {
  const auto entries = storage.List();
  if (!entries) {
    if (IsMissing(entries.error())) return {};
    return tl::make_unexpected(entries.error());
  }
  const std::string first_data_file = DataFileName(0);
  for (const DirectoryEntry& entry : *entries) {
    if (entry.type == EntryType::kDirectory) continue;
    const bool file = entry.type == EntryType::kFile;
    if (file && (entry.name == kFrontierTemporaryName || entry.name == kLockName)) continue;
    if (file && entry.name == first_data_file) {
      const auto data = storage.Open(entry.name, OpenMode::kRead);
      if (!data) return tl::make_unexpected(data.error());
      const auto length = (*data)->Length();
      if (!length) return tl::make_unexpected(length.error());
      if (*length == 0) continue;
    }
    return Fail(ErrorKind::kDamaged, "history without its durable frontier: " + entry.name +
                                         " exists and frontier does not");
  }
  return {};
}

SlotReading ReadSlot(File& frontier, std::size_t position) {
  std::array<std::byte, kBlockBytes> block;
  const auto got = frontier.ReadAt(position * kBlockBytes, block);
  if (!got || *got != block.size()) return tl::make_unexpected(SlotFault::kUnreadable);
  return DecodeSlot(block);
}

Result<SlotReadings> ReadSlotsTogether(File& frontier) {
  std::array<std::byte, kFrontierBytes> blocks;
  const auto got = frontier.ReadAt(0, blocks);
  if (!got) return tl::make_unexpected(got.error());
  SlotReadings slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool whole = *got >= (i + 1) * kBlockBytes;
    slots[i] = whole ? DecodeSlot(std::span(blocks).subspan(i * kBlockBytes, kBlockBytes))
                     : tl::make_unexpected(SlotFault::kUnreadable);
  }
  return slots;
}

std::string DescribeFaults(const SlotReadings& slots) {
  std::string text;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i]) continue;
    text += text.empty() ? " (" : ", ";
    text += "slot " + std::to_string(i) + ": ";
    text += SlotFaultText(slots[i].error());
  }
  return text.empty() ? text : text + ")";
}

tl::unexpected<Error> RefuseFrontier(FrontierRefusal refusal, const SlotReadings& slots) {
  const bool io = refusal == FrontierRefusal::kUnreadable;
  return Fail(io ? ErrorKind::kIo : ErrorKind::kDamaged,
              "frontier: " + std::string(FrontierRefusalText(refusal)) + DescribeFaults(slots));
}

Status CheckIdentity(const State& state, const std::optional<Identity>& wanted) {
  if (!wanted || (state.group == wanted->group && state.incarnation == wanted->incarnation)) {
    return {};
  }
  return Fail(ErrorKind::kIdentity, "identity mismatch: this is group " +
                                        std::to_string(state.group) + " incarnation " +
                                        std::to_string(state.incarnation) + ", not group " +
                                        std::to_string(wanted->group) + " incarnation " +
                                        std::to_string(wanted->incarnation));
}

tl::unexpected<Error> RefuseRecord(const History& history, const Record& record,
                                   const std::string& why) {
  return Fail(ErrorKind::kDamaged, DataFileName(history.state.generation) + ": record at byte " +
                                       std::to_string(record.entry.position) +
                                       " breaks the chain: " + why);
}

// The published bytes must hold exactly what the frontier says, from anchor to head.
Status LoadPublished(History& history) {
  const State& published = history.state;
  State walked = published;
  walked.head = published.checkpoint;
  walked.head_checksum = published.checkpoint_checksum;
  walked.length = 0;
  history.first_op = published.checkpoint + (published.checkpoint_prepare ? 0 : 1);
  RecordReader reader(*history.data, published.generation, 0, published.length);
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    if (!record) return tl::make_unexpected(record.error());
    const PrepareHeader& header = record->header;
    if (history.entries.empty() && published.checkpoint_prepare) {
      if (header.op != published.checkpoint || header.checksum != published.checkpoint_checksum ||
          header.group != published.group) {
        return RefuseRecord(history, *record, "it is not the checkpoint");
      }
      walked.length += record->entry.length;
    } else {
      const auto follows = CheckFollows(walked, header);
      if (!follows) return RefuseRecord(history, *record, follows.error().context);
      Advance(walked, header, record->entry.length);
    }
    history.entries.push_back(record->entry);
  }
  if (walked.head != published.head || walked.head_checksum != published.head_checksum) {
    return Fail(ErrorKind::kDamaged, "frontier disagrees with its data: it ends at op " +
                                         std::to_string(walked.head) + " and not at op " +
                                         std::to_string(published.head));
  }
  return {};
}

// A slot was lost, so what lies past the survivor's frontier may be acknowledged. It is adopted as
// a whole or the journal is refused: nothing left on disk says how far acknowledgment reached.
Status AdoptTail(History& history, bool check_chain) {
  RecordReader reader(*history.data, history.state.generation, history.state.length,
                      history.data_bytes);
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    if (!record) return tl::make_unexpected(record.error());
    const auto follows = CheckFollows(history.state, record->header);
    if (!follows && check_chain) return RefuseRecord(history, *record, follows.error().context);
    Advance(history.state, record->header, record->entry.length);
    history.entries.push_back(record->entry);
  }
  return {};
}

Status CheckTailBounds(std::uint64_t data_bytes, const Options& options) {
  if (data_bytes > kPublishedBytesMax) {
    return Fail(ErrorKind::kDamaged,
                "recovered tail exceeds its bounds: " + std::to_string(data_bytes) + " bytes");
  }
  if (!options.rules.On(Rule::kIgnoreCapacityAtRecovery) && data_bytes > options.capacity) {
    return Fail(ErrorKind::kCapacity,
                "recovered tail exceeds capacity: " + std::to_string(data_bytes) + " bytes");
  }
  return {};
}

}  // namespace

Result<SlotReadings> ReadSlots(File& frontier, const Rules& rules) {
  if (!rules.On(Rule::kReadSlotsSeparately)) return ReadSlotsTogether(frontier);
  return SlotReadings{ReadSlot(frontier, 0), ReadSlot(frontier, 1)};
}

Result<FrontierView> LoadFrontier(Storage& storage, OpenMode mode, const Options& options) {
  FrontierView view;
  auto opened = storage.Open(std::string(kFrontierName), mode);
  if (!opened) {
    if (!IsMissing(opened.error())) return tl::make_unexpected(opened.error());
    JOURNAL_TRY(RequireFreshDirectory(storage));
    return view;
  }
  view.file = std::move(*opened);
  const auto length = view.file->Length();
  if (!length) return tl::make_unexpected(length.error());
  view.one_block = *length == kBlockBytes && !options.rules.On(Rule::kRefuseShortFrontier);
  if (*length != kFrontierBytes && !view.one_block) {
    return Fail(ErrorKind::kDamaged, "unknown frontier size: " + std::to_string(*length) +
                                         " bytes instead of " + std::to_string(kFrontierBytes));
  }
  const auto slots = ReadSlots(*view.file, options.rules);
  if (!slots) return tl::make_unexpected(slots.error());
  if (mode == OpenMode::kReadWrite && options.rules.On(Rule::kSyncFrontierAtOpen)) {
    JOURNAL_TRY(view.file->Sync());
  }
  const auto choice = Choose(*slots, options.rules.On(Rule::kCheckSlotRedundancy));
  if (!choice) return RefuseFrontier(choice.error(), *slots);
  JOURNAL_TRY(CheckIdentity(choice->newest.state, options.identity));
  view.choice = *choice;
  return view;
}

Result<History> LoadHistory(Storage& storage, OpenMode mode, const FrontierView& view,
                            const Options& options) {
  CHECK(view.file != nullptr);
  History history;
  history.state = view.choice.newest.state;
  const std::string name = DataFileName(history.state.generation);
  auto data = storage.Open(name, mode);
  if (!data) {
    if (!IsMissing(data.error())) return tl::make_unexpected(data.error());
    return Fail(ErrorKind::kDamaged, name + ", which the frontier names, is missing");
  }
  history.data = std::move(*data);
  const auto length = history.data->Length();
  if (!length) return tl::make_unexpected(length.error());
  history.data_bytes = *length;
  if (*length < history.state.length) {
    return Fail(ErrorKind::kDamaged, "lost acknowledged bytes: " + name + " has " +
                                         std::to_string(*length) + " bytes, " +
                                         std::to_string(history.state.length) + " were published");
  }
  // A one-block file counts as whole here: that is the mistake the rule prevents.
  const bool slot_lost = view.choice.partner == Partner::kLost && !view.one_block;
  if (slot_lost) JOURNAL_TRY(CheckTailBounds(*length, options));
  JOURNAL_TRY(LoadPublished(history));
  if (slot_lost) {
    JOURNAL_TRY(AdoptTail(history, options.rules.On(Rule::kVerifyTailChain)));
  }
  return history;
}

}  // namespace tornfs::journal
