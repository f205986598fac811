// Verification: would recovery accept this directory, and is every promise still true? Reads only.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "journal/promises.h"
#include "journal/recovery.h"

namespace tornfs::journal {

// A journal as a reader sees it. Without a frontier it is fresh, and `history` is empty.
struct Snapshot {
  FrontierView frontier;
  std::optional<History> history;
};

// Errors: those of LoadFrontier and LoadHistory.
[[nodiscard]] Result<Snapshot> LoadSnapshot(Storage& storage, const Options& options);

// The first promise that is no longer true, as a sentence; nothing when all are. An op at or below
// the checkpoint counts as true: its history lives elsewhere.
[[nodiscard]] std::optional<std::string> FindBrokenPromise(const Snapshot& snapshot,
                                                           std::span<const Promise> promises);

}  // namespace tornfs::journal
