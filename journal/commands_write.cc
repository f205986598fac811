// The commands that open for writing.
#include <unistd.h>

#include "common/fd.h"
#include "journal/cli.h"
#include "journal/journal.h"
#include "journal/output.h"
#include "journal/posix_storage.h"
#include "journal/record_source.h"

namespace tornfs::journal::cli {
namespace {

// One durable group in the making.
struct Group {
  std::vector<std::vector<std::byte>> prepares;
  std::vector<PrepareHeader> headers;
  std::uint64_t record_bytes = 0;
};

Status PrintLines(const std::string& lines) {
  const auto written = WriteAll(STDOUT_FILENO, lines);
  if (!written) return IoFailure(written.error().sys_errno, "write standard output");
  return {};
}

// Wraps `body` into the prepare that follows the group's last one, or the journal's head.
Status AddPrepare(const Journal& journal, std::span<const std::byte> body, Group& group) {
  const State& state = journal.state();
  PrepareHeader fields;
  fields.group = state.group;
  fields.op = (group.headers.empty() ? state.head : group.headers.back().op) + 1;
  fields.parent = group.headers.empty() ? state.head_checksum : group.headers.back().checksum;
  fields.view = state.certified_log_view.value_or(0);
  group.prepares.push_back(BuildPrepare(fields, body));
  const auto header = DecodePrepare(group.prepares.back());
  if (!header) return tl::make_unexpected(header.error());
  group.headers.push_back(*header);
  group.record_bytes += RecordLength(header->size).value();
  return {};
}

Status AppendGroup(Journal& journal, const Group& group) {
  const std::vector<std::span<const std::byte>> batch(group.prepares.begin(), group.prepares.end());
  return journal.AppendBatch(batch);
}

// Says that the group is durable, which it must be, and starts the next one.
Status Acknowledge(Group& group, bool json) {
  std::string lines;
  for (const PrepareHeader& header : group.headers) {
    lines += OpLine("ack", header.op, header.checksum, json);
  }
  group = {};
  return PrintLines(lines);
}

Status Commit(Journal& journal, Group& group, bool json) {
  if (group.prepares.empty()) return {};
  JOURNAL_TRY(AppendGroup(journal, group));
  JOURNAL_TRY(journal.Sync());
  return Acknowledge(group, json);
}

// The last partial group is made durable by the checkpoint itself and not by a publication of its
// own: the one case in which a compaction carries records that were never synced.
Status CommitWithCheckpoint(Journal& journal, Group& group, const Request& request) {
  JOURNAL_TRY(AppendGroup(journal, group));
  JOURNAL_TRY(journal.Checkpoint(request.checkpoint));
  JOURNAL_TRY(journal.Sync());  // For a checkpoint that was already reached.
  JOURNAL_TRY(Acknowledge(group, request.json));
  const State& state = journal.state();
  return PrintLines(
      OpLine("checkpoint", state.checkpoint, state.checkpoint_checksum, request.json));
}

Status AppendAll(Journal& journal, const Request& request) {
  RecordSource source(STDIN_FILENO, request.length_prefixed);
  Group group;
  for (;;) {
    const auto body = source.Next();
    if (!body) {
      JOURNAL_TRY(Commit(journal, group, request.json));
      return tl::make_unexpected(body.error());
    }
    if (!*body) break;
    JOURNAL_TRY(AddPrepare(journal, **body, group));
    // A group that cannot fit is refused before it has eaten the memory.
    const bool hopeless = group.record_bytes > request.options.capacity;
    if (group.prepares.size() >= request.group || hopeless) {
      JOURNAL_TRY(Commit(journal, group, request.json));
    }
  }
  if (request.checkpoint != 0) return CommitWithCheckpoint(journal, group, request);
  return Commit(journal, group, request.json);
}

// Opens the journal of `request`, runs `action` on it and turns what happened into an exit code.
template <class Action>
int WithJournal(const Request& request, Action action) {
  PosixStorage storage(request.directory);
  const auto journal = Journal::Open(storage, request.options);
  if (!journal) return PrintError(journal.error(), request.json);
  const Status done = action(**journal);
  return done ? kExitOk : PrintError(done.error(), request.json);
}

}  // namespace

int RunAppend(const Request& request) {
  return WithJournal(request, [&](Journal& journal) { return AppendAll(journal, request); });
}

int RunRecover(const Request& request) {
  return WithJournal(request, [&](Journal& journal) {
    std::string lines;
    std::uint64_t op = journal.first_op();
    for (const Entry& entry : journal.entries()) {
      lines += OpLine("durable", op++, entry.checksum, request.json);
    }
    return PrintLines(lines);
  });
}

int RunCertify(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    const State& state = journal.state();
    const std::uint64_t op = request.op == 0 ? state.head : request.op;
    std::uint64_t checksum = state.checkpoint_checksum;
    if (op >= journal.first_op() && op <= state.head) {
      checksum = journal.entries()[op - journal.first_op()].checksum;
    }
    JOURNAL_TRY(journal.CertifyLogView(request.view, op, checksum));
    return PrintLines(OpLine("certified", op, checksum, request.json));
  });
}

int RunCheckpoint(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    JOURNAL_TRY(journal.Checkpoint(request.op));
    const State& state = journal.state();
    return PrintLines(
        OpLine("checkpoint", state.checkpoint, state.checkpoint_checksum, request.json));
  });
}

// Withdraws the promises first: from the first write on either outcome may be found.
int RunTruncate(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    const std::string from = std::to_string(request.from);
    JOURNAL_TRY(PrintLines(request.json ? R"({"truncating":)" + from + "}\n"
                                        : "truncating " + from + "\n"));
    JOURNAL_TRY(journal.TruncateFrom(request.from));
    const State& state = journal.state();
    return PrintLines(OpLine("head", state.head, state.head_checksum, request.json));
  });
}

}  // namespace tornfs::journal::cli
