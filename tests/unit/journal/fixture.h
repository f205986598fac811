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

 private:
  std::unique_ptr<Storage> storage_;
  Result<std::unique_ptr<Journal>> journal_;
};

[[nodiscard]] Options Without(std::initializer_list<Rule> rules);

// A disk whose journal holds `count` durable records, one publication each, closed cleanly.
[[nodiscard]] MemoryDisk DiskWith(int count);

[[nodiscard]] SlotReading SlotAt(const MemoryDisk& disk, std::size_t position);
void PutSlot(MemoryDisk& disk, std::size_t position, const Slot& slot);
// Fills a slot with garbage.
void DamageSlot(MemoryDisk& disk, std::size_t position);
// The place of the newest slot.
[[nodiscard]] std::size_t NewestPosition(const MemoryDisk& disk);

// Opens read-only; the error's text, or "" when recovery would accept the directory.
[[nodiscard]] std::string Refusal(MemoryDisk& disk, const Options& options = {});

}  // namespace tornfs::journal
