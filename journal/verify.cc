#include "journal/verify.h"

#include "common/hash.h"

namespace tornfs::journal {
namespace {

std::string Describe(const Promise& promise) {
  const bool acknowledged = promise.kind == PromiseKind::kAcknowledged;
  return "op " + std::to_string(promise.op) +
         (acknowledged ? " was acknowledged with " : " was reported durable with ") +
         Hex16(promise.checksum);
}

}  // namespace

Result<Snapshot> LoadSnapshot(Storage& storage, const Options& options) {
  Snapshot snapshot;
  auto frontier = LoadFrontier(storage, OpenMode::kRead, options);
  if (!frontier) return tl::make_unexpected(frontier.error());
  snapshot.frontier = std::move(*frontier);
  if (!snapshot.frontier.file) return snapshot;
  auto history = LoadHistory(storage, OpenMode::kRead, snapshot.frontier, options);
  if (!history) return tl::make_unexpected(history.error());
  snapshot.history = std::move(*history);
  return snapshot;
}

std::optional<std::string> FindBrokenPromise(const Snapshot& snapshot,
                                             std::span<const Promise> promises) {
  if (promises.empty()) return std::nullopt;
  if (!snapshot.history) {
    return Describe(promises.front()) + " and is missing (there is no journal)";
  }
  const History& history = *snapshot.history;
  for (const Promise& promise : promises) {
    if (promise.op <= history.state.checkpoint) continue;
    if (promise.op > history.state.head) {
      return Describe(promise) + " and is missing (head is " + std::to_string(history.state.head) +
             ")";
    }
    const std::uint64_t stored = history.entries[promise.op - history.first_op].checksum;
    if (stored != promise.checksum) return Describe(promise) + " and is now " + Hex16(stored);
  }
  return std::nullopt;
}

}  // namespace tornfs::journal
