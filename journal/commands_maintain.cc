// The commands that change what a journal is, rather than add to it: certify, checkpoint, truncate,
// purge, reset, segments.
#include "journal/cli.h"
#include "journal/output.h"
#include "journal/with_journal.h"

namespace tornfs::journal::cli {
namespace {

// A line of its own for everything that is not about one op.
Status Report(const Request& request, std::string_view verb, std::uint64_t a, std::uint64_t b) {
  return PrintLines(NumbersLine(verb, a, b, request.json));
}

// Withdraws promises before the first write: from then on either outcome may be found.
Status Withdraw(const Request& request, std::uint64_t from) {
  const std::string number = std::to_string(from);
  return PrintLines(request.json ? R"({"truncating":)" + number + "}\n"
                                 : "truncating " + number + "\n");
}

Status ReportOp(const Request& request, std::string_view verb, std::uint64_t op,
                std::uint64_t checksum) {
  return PrintLines(OpLine(verb, op, checksum, request.json));
}

}  // namespace

int RunCertify(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    const State& state = journal.state();
    const std::uint64_t op = request.op == 0 ? state.head : request.op;
    std::uint64_t checksum = state.checkpoint_checksum;
    if (op >= journal.first_op() && op <= state.head) {
      checksum = journal.entries()[op - journal.first_op()].checksum;
    }
    JOURNAL_TRY(journal.CertifyLogView(request.view, op, checksum));
    return ReportOp(request, "certified", op, checksum);
  });
}

int RunCheckpoint(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    JOURNAL_TRY(journal.Checkpoint(request.op));
    const State& state = journal.state();
    return ReportOp(request, "checkpoint", state.checkpoint, state.checkpoint_checksum);
  });
}

int RunTruncate(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    JOURNAL_TRY(Withdraw(request, request.from));
    JOURNAL_TRY(journal.TruncateFrom(request.from));
    const State& state = journal.state();
    return ReportOp(request, "head", state.head, state.head_checksum);
  });
}

int RunPurge(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    JOURNAL_TRY(journal.MarkPurge(request.generation, request.floor.value_or(journal.head())));
    const State& state = journal.state();
    return Report(request, "purged", state.purge_generation, state.purge_floor);
  });
}

int RunReset(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    JOURNAL_TRY(Withdraw(request, request.op + 1));
    JOURNAL_TRY(journal.Reset(request.op, request.checksum));
    const State& state = journal.state();
    return ReportOp(request, "head", state.head, state.head_checksum);
  });
}

// By default the messages that no checkpoint covers move, and new ones follow them.
int RunSegments(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    std::uint64_t start = journal.next_offset();
    for (std::uint64_t op = journal.head();
         op >= journal.first_op() && op > journal.state().checkpoint; --op) {
      const Entry& entry = journal.entries()[op - journal.first_op()];
      if (entry.HasMessages() && !entry.reference) start = entry.base_offset;
    }
    JOURNAL_TRY(journal.EnableSegments(request.offset.value_or(start), request.segment_bytes));
    const SegmentState& segments = *journal.state().segments;
    return Report(request, "segments", segments.max_size, segments.tail.next_offset);
  });
}

}  // namespace tornfs::journal::cli
