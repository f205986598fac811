// What a journal directory holds: the read-only half of opening one. Everything is decided here,
// and nothing is written; Journal::Open acts on the decision, verify and dump report it.
//
//   frontier         found                                     outcome
//   absent           nothing, or leftovers of a first open     fresh journal
//   absent           anything else                             refuse: history without frontier
//   not 8192 bytes                                             refuse: unknown frontier size
//   no slot verifies                                           refuse: unreadable frontier
//   slots contradict                                           refuse (frontier.h)
//   other identity                                             refuse: identity
//   >= 1 slot        data file missing                         refuse
//   >= 1 slot        data file shorter than published          refuse: lost acknowledged bytes
//   >= 1 slot        published records do not verify           refuse
//   both slots       data file longer than published           open, cut the tail
//   one slot         every byte of the tail is a valid chain   open, adopt the tail, repair the
//   slot one slot         anything else in the tail                 refuse, or with accept_loss
//   keep the
//                                                              records before the first bad byte
//   >= 1 slot        a segment ends before a body or cursor    refuse
//
// The two tail rules differ because with both slots good the frontier is exact, while a lost slot
// may have been the newest: then acknowledged records lie past the frontier.
//
// The rename protocol has one slot and its frontier is 4096 bytes; a lost slot is an unreadable
// frontier, and a longer data file is always cut.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "journal/frontier.h"
#include "journal/record.h"
#include "journal/rules.h"
#include "journal/storage.h"

namespace tornfs::journal {

struct Identity {
  std::uint64_t group = 1;
  std::uint64_t incarnation = 1;

  friend bool operator==(const Identity&, const Identity&) = default;
};

struct Options {
  // Whose journal this must be. Absent: whatever is found, and {1, 1} for a fresh one.
  std::optional<Identity> identity;
  // Bytes of records to admit, kCapacityMin .. kCapacityMax, a multiple of 4096.
  std::uint64_t capacity = kCapacityDefault;
  Rules rules;
  Protocol protocol = Protocol::kTornfs;
  // Reserve the disk blocks of a segment when it is created.
  bool preallocate_segments = false;
  // A lost slot over a damaged tail: keep the records before the damage instead of refusing. What
  // is cut may have been acknowledged; only a person can know better.
  bool accept_loss = false;
  // Leave deleting obsolete files after a compaction to whoever calls Journal::Reclaim().
  bool reclaim_later = false;
  // Called now and then while an open reads records: bytes read, bytes to read.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

// The frontier file and the choice made from it.
struct FrontierView {
  std::unique_ptr<File> file;  // Null: no frontier, and the directory is fit for a fresh journal.
  FrontierChoice choice;
  bool one_block = false;  // One slot by protocol, or refuse-short-frontier is switched off.
};

// The records that count.
struct History {
  std::unique_ptr<File> data;
  std::uint64_t data_bytes = 0;  // Length of the data file as found.
  State state;                   // As published, plus what was adopted from the tail.
  std::uint64_t first_op = 1;    // Of entries[0].
  std::vector<Entry> entries;
  std::set<SegmentKey> adopted_segments;  // That adopted records refer to.
};

// Reads both slots, each on its own, so that one unreadable sector hides one slot.
// Errors: kIo only with read-slots-separately switched off.
[[nodiscard]] Result<SlotReadings> ReadSlots(File& frontier, const Options& options);

// Opens and judges the frontier.
//
// Errors: kDamaged, kIdentity, kIo.
[[nodiscard]] Result<FrontierView> LoadFrontier(Storage& storage, OpenMode mode,
                                                const Options& options);

// Opens the data file the frontier names and verifies every record that counts, bodies in segments
// included.
//
// Requires: view.file.  Errors: kDamaged, kUnsupported, kIo; kCapacity only with
// ignore-capacity-at-recovery switched off.  Cost: reads everything published, and the tail only
// when a slot was lost; memory for the entries and one record.
[[nodiscard]] Result<History> LoadHistory(Storage& storage, OpenMode mode, const FrontierView& view,
                                          const Options& options);

// The segments whose retained names must stay: those that an entry or a cursor names.
[[nodiscard]] std::set<SegmentKey> NamedSegments(const State& state,
                                                 std::span<const Entry> entries);

// Does the last segment end where the journal does, with nothing in it that is still needed, and
// has its owner deleted it? Then it must not come back.
[[nodiscard]] Result<bool> TailWasRetired(Storage& storage, const SegmentState& segments);

}  // namespace tornfs::journal
