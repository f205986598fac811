// What the journal tests share: building records, opening on a MemoryDisk, reading slots back.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "memory_disk.h"

namespace tornfs::journal {

using Prepare = std::vector<std::byte>;

// A sealed prepare of group 1.
[[nodiscard]] Prepare MakePrepare(std::uint64_t op, std::uint64_t parent, std::string_view body,
                                  std::uint32_t view = 0);
// A sealed prepare of group 1 with a batch of `count` messages.
[[nodiscard]] Prepare MakeMessages(std::uint64_t op, std::uint64_t parent,
                                   std::uint64_t base_offset, std::string_view text,
                                   std::uint32_t count = 1);
[[nodiscard]] std::uint64_t ChecksumOf(const Prepare& prepare);

// A process with the journal open. Not movable: the journal points at the storage.
class OpenJournal {
 public:
  explicit OpenJournal(MemoryDisk& disk, const Options& options = {})
      : storage_(disk.Attach()), journal_(Journal::Open(*storage_, options)) {}

  [[nodiscard]] bool ok() const { return journal_.has_value(); }
  [[nodiscard]] const Error& error() const { return journal_.error(); }
  Journal* operator->() { return journal_->get(); }
  Journal& operator*() { return **journal_; }

  // Appends one record with `body` after the head, without syncing.
  [[nodiscard]] Status Append(std::string_view body);
  [[nodiscard]] Status AppendDurably(std::string_view body);
  // Appends a batch of one message after the last one, without syncing.
  [[nodiscard]] Status AppendMessage(std::string_view text);
  // The same with the body written durably to the public segment that starts at `start_offset`, and
  // referred to. `generation` is the segment's.
  [[nodiscard]] Status AppendReference(std::uint64_t generation, std::uint64_t start_offset,
                                       std::string_view text);

 private:
  std::unique_ptr<Storage> storage_;
  Result<std::unique_ptr<Journal>> journal_;
};

[[nodiscard]] Options Without(std::initializer_list<Rule> rules);

// A disk whose journal holds `count` durable records, one publication each, closed cleanly.
[[nodiscard]] MemoryDisk DiskWith(int count);

// A disk with `count` durable messages in owned segments of `segment_bytes`.
[[nodiscard]] MemoryDisk DiskWithSegments(int count, std::uint64_t segment_bytes = 1000);

// The text of each message that the journal retains, in order; what cannot be read ends it.
[[nodiscard]] std::vector<std::string> Messages(Journal& journal);

[[nodiscard]] SlotReading SlotAt(const MemoryDisk& disk, std::size_t position);
void PutSlot(MemoryDisk& disk, std::size_t position, const Slot& slot);
// Fills a slot with garbage.
void DamageSlot(MemoryDisk& disk, std::size_t position);
// The place of the newest slot.
[[nodiscard]] std::size_t NewestPosition(const MemoryDisk& disk);

// Opens read-only; the error's text, or "" when recovery would accept the directory.
[[nodiscard]] std::string Refusal(MemoryDisk& disk, const Options& options = {});

}  // namespace tornfs::journal
