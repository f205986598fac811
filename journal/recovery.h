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
//   slot one slot         anything else in the tail                 refuse
//
// The two tail rules differ because with both slots good the frontier is exact, while a lost slot
// may have been the newest: then acknowledged records lie past the frontier.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
};

// The frontier file and the choice made from it.
struct FrontierView {
  std::unique_ptr<File> file;  // Null: no frontier, and the directory is fit for a fresh journal.
  FrontierChoice choice;
  bool one_block = false;  // Only with refuse-short-frontier switched off.
};

// The records that count.
struct History {
  std::unique_ptr<File> data;
  std::uint64_t data_bytes = 0;  // Length of the data file as found.
  State state;                   // As published, plus what was adopted from the tail.
  std::uint64_t first_op = 1;    // Of entries[0].
  std::vector<Entry> entries;
};

// Reads both slots, each on its own, so that one unreadable sector hides one slot.
// Errors: kIo only with read-slots-separately switched off.
[[nodiscard]] Result<SlotReadings> ReadSlots(File& frontier, const Rules& rules);

// Opens and judges the frontier. In mode kReadWrite it is synced before anything read from it is
// believed: a killed process may have left a slot that no disk has seen yet.
//
// Errors: kDamaged, kIdentity, kIo.
[[nodiscard]] Result<FrontierView> LoadFrontier(Storage& storage, OpenMode mode,
                                                const Options& options);

// Opens the data file the frontier names and verifies every record that counts.
//
// Requires: view.file.  Errors: kDamaged, kUnsupported, kIo; kCapacity only with
// ignore-capacity-at-recovery switched off.  Cost: reads everything published, and the tail only
// when a slot was lost.
[[nodiscard]] Result<History> LoadHistory(Storage& storage, OpenMode mode, const FrontierView& view,
                                          const Options& options);

}  // namespace tornfs::journal
