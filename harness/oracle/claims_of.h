// From the history of files to what must hold after a crash. docs/oracle.md has the rules.
//
// Pure functions. Threads: none.
#pragma once

#include <vector>

#include "harness/oracle/claim.h"
#include "harness/oracle/file_history.h"

namespace tornfs::harness {

// Files that were replaced, each once: old or new, never a third.
[[nodiscard]] std::vector<Claim> ReplacementClaims(const FileHistory& history);
// Files that were removed once something else held what they held: one of the two is whole.
[[nodiscard]] std::vector<Claim> RemovalClaims(const FileHistory& history,
                                               const ContentStore& store);
// What had been changed when a line was printed: it is there from then on.
[[nodiscard]] std::vector<Claim> PromiseClaims(const FileHistory& history);
// Files that were synced under a name that never was.
[[nodiscard]] std::vector<Claim> NameClaims(const FileHistory& history);

// Promises of files that were durable when the line was printed, and new files that were synced and
// are durable with their names at the end: what the last two would be about, and holds in any
// state.
[[nodiscard]] std::size_t CountSettled(const FileHistory& history);

// Whether lines are promises of this program; see Oracle::takes_promises.
[[nodiscard]] bool TakesPromises(const FileHistory& history);

}  // namespace tornfs::harness
