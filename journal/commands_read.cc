// The commands that read what recovery would accept, and never write: verify and read.
#include <unistd.h>

#include "common/bytes.h"
#include "common/fd.h"
#include "journal/batch.h"
#include "journal/cli.h"
#include "journal/output.h"
#include "journal/posix_storage.h"
#include "journal/verify.h"

namespace tornfs::journal::cli {
namespace {

constexpr std::size_t kPrintBytes = 1ULL << 16;

std::string Summary(const Snapshot& snapshot) {
  if (!snapshot.history) return "good: fresh";
  const State& state = snapshot.history->state;
  return "good: head " + std::to_string(state.head) + ", checkpoint " +
         std::to_string(state.checkpoint);
}

void AddBody(std::span<const std::byte> body, bool length_prefixed, std::string& out) {
  if (length_prefixed) {
    std::array<std::byte, sizeof(std::uint32_t)> prefix;
    StoreLe(std::span<std::byte>(prefix), 0, static_cast<std::uint32_t>(body.size()));
    out.append(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  }
  out.append(reinterpret_cast<const char*>(body.data()), body.size());
  if (!length_prefixed) out += '\n';
}

}  // namespace

int RunVerify(const Request& request) {
  PosixStorage storage(ReadableFolder(request));
  const auto snapshot = LoadSnapshot(storage, request.options);
  if (!snapshot) {
    return PrintVerdict(false, "refused: " + snapshot.error().Message(), request.json);
  }
  // Last, so that nothing that is promised now was missing when the journal was read.
  if (!request.promises.empty()) {
    const auto text = ReadFile(request.promises);
    if (!text) return PrintUsageError("verify: " + text.error().Message());
    const auto broken = FindBrokenPromise(*snapshot, ParsePromises(*text));
    if (broken) return PrintVerdict(false, *broken, request.json);
  }
  return PrintVerdict(true, Summary(*snapshot), request.json);
}

int RunRead(const Request& request) {
  PosixStorage storage(ReadableFolder(request));
  const auto snapshot = LoadSnapshot(storage, request.options);
  if (!snapshot) return PrintError(snapshot.error(), request.json);
  if (!snapshot->history) return kExitOk;
  const History& history = *snapshot->history;
  SegmentReader segments(storage);
  RecordReader reader(*history.data, history.state.generation, 0, history.state.length, &segments);
  std::string out;
  while (!reader.AtEnd()) {
    const auto record = reader.Next();
    if (!record) return PrintError(record.error(), request.json);
    const bool messages = record->header.operation == kOperationMessages;
    const std::size_t skipped = prepare_at::kBody + (messages ? kBatchHeaderBytes : 0);
    AddBody(record->prepare.subspan(skipped), request.length_prefixed, out);
    if (out.size() < kPrintBytes) continue;
    if (const int printed = Print(out); printed != kExitOk) return printed;
    out.clear();
  }
  return Print(out);
}

}  // namespace tornfs::journal::cli
