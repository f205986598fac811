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
    if (file && (entry.name == kFrontierTemporaryName || entry.name == kLockName ||
                 entry.name == kSuspectName)) {
      continue;
    }
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

SlotReading ReadSlot(File& frontier, std::size_t position, const Magic& magic) {
  std::array<std::byte, kBlockBytes> block;
  const auto got = frontier.ReadAt(position * kBlockBytes, block);
  if (!got || *got != block.size()) return tl::make_unexpected(SlotFault::kUnreadable);
  return DecodeSlot(block, magic);
}

Result<SlotReadings> ReadSlotsTogether(File& frontier, const Magic& magic) {
  std::array<std::byte, kFrontierBytes> blocks;
  const auto got = frontier.ReadAt(0, blocks);
  if (!got) return tl::make_unexpected(got.error());
  SlotReadings slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool whole = *got >= (i + 1) * kBlockBytes;
    slots[i] = whole ? DecodeSlot(std::span(blocks).subspan(i * kBlockBytes, kBlockBytes), magic)
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

// Bytes between two calls of Options::progress.
constexpr std::uint64_t kProgressBytes = 64ULL << 20;

// One walk over the records of a history.
class Walk {
 public:
  Walk(History& history, Storage& storage, const Options& options)
      : history_(history), options_(options), segments_(storage) {}

  // The published bytes must hold exactly what the frontier says, from anchor to head.
  [[nodiscard]] Status LoadPublished();
  // A slot was lost, so what lies past the survivor's frontier may be acknowledged. It is adopted
  // as a whole or the journal is refused: nothing left on disk says how far acknowledgment reached.
  [[nodiscard]] Status AdoptTail();
  // The segment that the next body goes to must hold everything up to its cursor.
  [[nodiscard]] Status CheckTailSegment(Storage& storage);

 private:
  [[nodiscard]] Status AdoptRecord(const Record& record);
  void Report(std::uint64_t position);

  History& history_;
  const Options& options_;
  SegmentReader segments_;
  std::uint64_t reported_ = 0;
};

void Walk::Report(std::uint64_t position) {
  if (!options_.progress || position - reported_ < kProgressBytes) return;
  reported_ = position;
  options_.progress(position, history_.data_bytes);
}

Status Walk::LoadPublished() {
  const State& published = history_.state;
  State walked = published;
  walked.head = published.checkpoint;
  walked.head_checksum = published.checkpoint_checksum;
  walked.length = 0;
  history_.first_op = published.checkpoint + (published.checkpoint_prepare ? 0 : 1);
  RecordReader reader(*history_.data, published.generation, 0, published.length,
                      published.references ? &segments_ : nullptr);
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    if (!record) return tl::make_unexpected(record.error());
    const PrepareHeader& header = record->header;
    if (history_.entries.empty() && published.checkpoint_prepare) {
      if (header.op != published.checkpoint || header.checksum != published.checkpoint_checksum ||
          header.group != published.group) {
        return RefuseRecord(history_, *record, "it is not the checkpoint");
      }
      walked.length += record->entry.length;
    } else {
      const auto follows = CheckFollows(walked, header);
      if (!follows) return RefuseRecord(history_, *record, follows.error().context);
      Advance(walked, header, record->entry.length);
    }
    history_.entries.push_back(record->entry);
    Report(reader.position());
  }
  if (walked.head != published.head || walked.head_checksum != published.head_checksum) {
    return Fail(ErrorKind::kDamaged, "frontier disagrees with its data: it ends at op " +
                                         std::to_string(walked.head) + " and not at op " +
                                         std::to_string(published.head));
  }
  return {};
}

Status Walk::AdoptRecord(const Record& record) {
  State& state = history_.state;
  const Entry& entry = record.entry;
  const auto follows = CheckFollows(state, record.header);
  if (!follows && options_.rules.On(Rule::kVerifyTailChain)) {
    return RefuseRecord(history_, record, follows.error().context);
  }
  if (state.segments && entry.HasMessages()) {
    const auto place = Reserve(*state.segments, entry.base_offset, entry.next_offset,
                               entry.payload_bytes - prepare_at::kBody);
    if (!place || *place != entry.reference) {
      return RefuseRecord(history_, record, "segment boundary mismatch");
    }
  }
  if (entry.reference) {
    state.references = true;
    history_.adopted_segments.insert(entry.reference->segment);
  }
  Advance(state, record.header, entry.length);
  history_.entries.push_back(entry);
  return {};
}

Status Walk::AdoptTail() {
  const bool references =
      history_.state.references || options_.rules.On(Rule::kAcceptReferencesInTail);
  RecordReader reader(*history_.data, history_.state.generation, history_.state.length,
                      history_.data_bytes, references ? &segments_ : nullptr);
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    const Status adopted = record ? AdoptRecord(*record) : tl::make_unexpected(record.error());
    if (!adopted) {
      const bool cut = options_.accept_loss && adopted.error().kind == ErrorKind::kDamaged;
      return cut ? Status() : adopted;
    }
    Report(reader.position());
  }
  return {};
}

Status Walk::CheckTailSegment(Storage& storage) {
  if (!history_.state.segments) return {};
  const SegmentCursor& tail = history_.state.segments->tail;
  if (tail.length == 0) return {};
  const auto retired = TailWasRetired(storage, *history_.state.segments);
  if (!retired) return tl::make_unexpected(retired.error());
  if (*retired) return {};
  const auto length = segments_.Length(tail.segment);
  if (!length) return tl::make_unexpected(length.error());
  if (*length >= tail.length) return {};
  return Fail(ErrorKind::kDamaged, "lost durably published bytes: " + RetainedName(tail.segment) +
                                       " has " + std::to_string(*length) + " bytes, " +
                                       std::to_string(tail.length) + " were published");
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

Result<SlotReadings> ReadSlots(File& frontier, const Options& options) {
  const Magic& magic = MagicOf(options.protocol);
  if (!options.rules.On(Rule::kReadSlotsSeparately)) return ReadSlotsTogether(frontier, magic);
  return SlotReadings{ReadSlot(frontier, 0, magic), ReadSlot(frontier, 1, magic)};
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
  const bool renamed = options.protocol == Protocol::kRename;
  view.one_block =
      *length == kBlockBytes && (renamed || !options.rules.On(Rule::kRefuseShortFrontier));
  if (!view.one_block && (renamed || *length != kFrontierBytes)) {
    return Fail(ErrorKind::kDamaged, "unknown frontier size: " + std::to_string(*length) +
                                         " bytes instead of " +
                                         std::to_string(renamed ? kBlockBytes : kFrontierBytes));
  }
  const auto slots = ReadSlots(*view.file, options);
  if (!slots) return tl::make_unexpected(slots.error());
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
  Walk walk(history, storage, options);
  JOURNAL_TRY(walk.LoadPublished());
  if (slot_lost) JOURNAL_TRY(walk.AdoptTail());
  JOURNAL_TRY(walk.CheckTailSegment(storage));
  return history;
}

std::set<SegmentKey> NamedSegments(const State& state, std::span<const Entry> entries) {
  std::set<SegmentKey> named;
  for (const Entry& entry : entries) {
    if (entry.reference) named.insert(entry.reference->segment);
  }
  if (state.segments) {
    named.insert(state.segments->tail.segment);
    named.insert(state.segments->checkpoint.segment);
  }
  return named;
}

Result<bool> TailWasRetired(Storage& storage, const SegmentState& segments) {
  if (segments.tail != segments.checkpoint || segments.tail.length < segments.max_size) {
    return false;
  }
  const std::string name = InPartition(PublicName(segments.tail.segment.start_offset));
  const auto exists = storage.SameFile(name, name);
  if (!exists) return tl::make_unexpected(exists.error());
  return !*exists;
}

}  // namespace tornfs::journal
