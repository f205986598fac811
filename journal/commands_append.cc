// append and recover: the two commands that promise something about records.
#include <unistd.h>

#include <algorithm>

#include "common/fd.h"
#include "common/units.h"
#include "journal/batch.h"
#include "journal/record_source.h"
#include "journal/with_journal.h"

namespace tornfs::journal::cli {
namespace {

// Turns records into prepares, groups of them into durable history, and says so.
class Appender {
 public:
  Appender(Journal& journal, const Request& request)
      : journal_(journal), request_(request), storage_(request.directory) {}

  [[nodiscard]] Status Run();

 private:
  // One durable group in the making.
  struct Group {
    std::vector<std::vector<std::byte>> prepares;
    std::vector<PrepareHeader> headers;
    std::uint64_t record_bytes = 0;
    std::uint64_t next_offset = 0;
  };

  // Wraps `body` into the prepare that follows the group's last one, or the journal's head.
  [[nodiscard]] Status Add(std::span<const std::byte> body);
  [[nodiscard]] std::vector<std::byte> MakeBatch(std::span<const std::byte> messages);
  [[nodiscard]] Status AppendGroup();
  [[nodiscard]] Status AppendReferences();
  [[nodiscard]] Status StartSegment();
  // Says that the group is durable, which it must be, and starts the next one.
  [[nodiscard]] Status Acknowledge();
  [[nodiscard]] Status Commit();
  [[nodiscard]] Status CommitWithCheckpoint();

  Journal& journal_;
  const Request& request_;
  PosixStorage storage_;  // For segments of our own, with --referenced.
  Group group_;
  SegmentKey segment_;
  std::unique_ptr<File> segment_file_;
  std::uint64_t segment_bytes_ = 0;
};

std::vector<std::byte> Appender::MakeBatch(std::span<const std::byte> messages) {
  if (group_.headers.empty()) group_.next_offset = journal_.next_offset();
  BatchHeader header;
  header.base_offset = group_.next_offset;
  group_.next_offset = header.next_offset();
  return BuildBatch(header, messages);
}

Status Appender::Add(std::span<const std::byte> body) {
  const State& state = journal_.state();
  PrepareHeader fields;
  fields.group = state.group;
  fields.op = (group_.headers.empty() ? state.head : group_.headers.back().op) + 1;
  fields.parent = group_.headers.empty() ? state.head_checksum : group_.headers.back().checksum;
  fields.view = state.certified_log_view.value_or(0);
  std::vector<std::byte> batch;
  if (request_.messages || request_.referenced || state.segments) {
    batch = MakeBatch(body);
    body = batch;
    fields.operation = kOperationMessages;
  }
  if (prepare_at::kBody + body.size() > kPrepareBytesMax) {
    return Fail(ErrorKind::kUnsupported, "record is too long");
  }
  group_.prepares.push_back(BuildPrepare(fields, body));
  const auto header = DecodePrepare(group_.prepares.back());
  if (!header) return tl::make_unexpected(header.error());
  group_.headers.push_back(*header);
  group_.record_bytes += RecordLength(header->size).value();
  return {};
}

// A file of that name can only be what an earlier run wrote and never appended.
Status Appender::StartSegment() {
  for (const Entry& entry : journal_.entries()) {
    if (!entry.reference) continue;
    segment_.generation = std::max(segment_.generation, entry.reference->segment.generation + 1);
  }
  segment_.start_offset = journal_.next_offset();
  const std::string name = InPartition(PublicName(segment_.start_offset));
  const auto removed = storage_.Unlink(name);
  if (!removed && !IsMissing(removed.error())) return removed;
  auto file = storage_.Open(name, OpenMode::kCreate);
  if (!file) return tl::make_unexpected(file.error());
  segment_file_ = std::move(*file);
  return storage_.SyncPartition();
}

// Writes the bodies as an owner of messages would, and appends references to them.
Status Appender::AppendReferences() {
  if (group_.prepares.empty()) return {};
  if (!segment_file_) JOURNAL_TRY(StartSegment());
  std::vector<ReferencedPrepare> references;
  for (const auto& prepare : group_.prepares) {
    const auto body = PrepareView(prepare).subspan(prepare_at::kBody);
    JOURNAL_TRY(segment_file_->WriteAt(segment_bytes_, body));
    references.push_back({prepare, {segment_, segment_bytes_, body.size()}});
    segment_bytes_ += body.size();
  }
  JOURNAL_TRY(segment_file_->Sync());
  return journal_.AppendReferences(references);
}

Status Appender::AppendGroup() {
  if (request_.referenced) return AppendReferences();
  const std::vector<PrepareView> batch(group_.prepares.begin(), group_.prepares.end());
  return journal_.AppendBatch(batch);
}

Status Appender::Acknowledge() {
  std::string lines;
  for (const PrepareHeader& header : group_.headers) {
    lines += OpLine("ack", header.op, header.checksum, request_.json);
  }
  group_ = {};
  return PrintLines(lines);
}

Status Appender::Commit() {
  if (group_.prepares.empty()) return {};
  JOURNAL_TRY(AppendGroup());
  JOURNAL_TRY(journal_.Sync());
  return Acknowledge();
}

// The last partial group is made durable by the checkpoint itself and not by a publication of its
// own: the one case in which a compaction carries records that were never synced.
Status Appender::CommitWithCheckpoint() {
  JOURNAL_TRY(AppendGroup());
  JOURNAL_TRY(journal_.Checkpoint(request_.checkpoint));
  JOURNAL_TRY(journal_.Sync());  // For a checkpoint that was already reached.
  JOURNAL_TRY(Acknowledge());
  const State& state = journal_.state();
  return PrintLines(
      OpLine("checkpoint", state.checkpoint, state.checkpoint_checksum, request_.json));
}

Status Appender::Run() {
  RecordSource source(STDIN_FILENO, request_.length_prefixed);
  for (;;) {
    const auto body = source.Next();
    if (!body) {
      JOURNAL_TRY(Commit());
      return tl::make_unexpected(body.error());
    }
    if (!*body) break;
    JOURNAL_TRY(Add(**body));
    // A group that cannot fit is refused before it has eaten the memory.
    const bool hopeless = group_.record_bytes > request_.options.capacity;
    if (group_.prepares.size() >= request_.group || hopeless) JOURNAL_TRY(Commit());
  }
  return request_.checkpoint != 0 ? CommitWithCheckpoint() : Commit();
}

}  // namespace

int RunAppend(const Request& request) {
  return WithJournal(request, [&](Journal& journal) { return Appender(journal, request).Run(); });
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

Options WithProgress(Options options) {
  options.progress = [](std::uint64_t done, std::uint64_t total) {
    const std::string line =
        "journal: read " + FormatSize(done) + " of " + FormatSize(total) + "\n";
    (void)WriteAll(STDERR_FILENO, line);  // Nobody has to listen.
  };
  return options;
}

}  // namespace tornfs::journal::cli
