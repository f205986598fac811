#include "journal/group_commit.h"

#include <algorithm>
#include <set>

#include "common/check.h"
#include "journal/batch.h"
#include "journal/chain.h"

namespace tornfs::journal {

// One owner per name within the process.
class GroupCommit::Lease {
 public:
  static Result<std::unique_ptr<Lease>> Take(const std::string& name) {
    const std::scoped_lock lock(Mutex());
    if (Owners().insert(name).second) return std::unique_ptr<Lease>(new Lease(name));
    return Fail(ErrorKind::kLocked, name + " has a writer in this process");
  }

  ~Lease() {
    const std::scoped_lock lock(Mutex());
    Owners().erase(name_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  explicit Lease(std::string name) : name_(std::move(name)) {}

  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::set<std::string>& Owners() {
    static std::set<std::string> owners;
    return owners;
  }

  std::string name_;
};

bool GroupCommit::Group::Fits(const Item& item) const {
  if (items.empty()) return true;
  return !Full() && record_bytes + item.record_bytes <= kGroupBytesMax &&
         body_bytes + item.body_bytes <= kGroupBytesMax;
}

GroupCommit::GroupCommit(const Options& options, const GroupCommitOptions& group_options)
    : options_(options), group_options_(group_options) {
  options_.reclaim_later = true;
}

Result<std::unique_ptr<GroupCommit>> GroupCommit::Start(Storage& storage, const std::string& lease,
                                                        const Options& options,
                                                        const GroupCommitOptions& group_options) {
  std::unique_ptr<GroupCommit> commit(new GroupCommit(options, group_options));
  auto taken = Lease::Take(lease);
  if (!taken) return tl::make_unexpected(taken.error());
  commit->lease_ = std::move(*taken);
  auto journal = Journal::Open(storage, commit->options_);
  if (!journal) return tl::make_unexpected(journal.error());
  commit->journal_ = std::move(*journal);
  commit->TakeOver();
  commit->PublishProgress();
  commit->writer_ = std::thread([self = commit.get()] { self->Loop(); });
  return commit;
}

GroupCommit::~GroupCommit() {
  if (!writer_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  writer_.join();
}

Status GroupCommit::Admit(std::uint64_t retained_bytes) {
  if (failure_)
    return Fail(ErrorKind::kPoisoned, "an earlier request failed: " + failure_->Message());
  if (pauses_ != 0) return Fail(ErrorKind::kCapacity, "the journal is being changed: try again");
  if (retained_bytes_ + pending_bytes_ + retained_bytes > options_.capacity) {
    ++metrics_.refused_for_capacity;
    return Fail(ErrorKind::kCapacity, "the journal is full: checkpoint required");
  }
  return {};
}

Ticket GroupCommit::Enqueue(std::vector<std::byte> prepare, const Entry& entry,
                            const PrepareHeader& header) {
  Item item;
  item.op = header.op;
  item.retained_bytes = RetainedBytes(entry);
  const bool in_segment = accepted_.segments && entry.HasMessages();
  item.record_bytes = in_segment ? kBlockBytes : item.retained_bytes;
  item.body_bytes = in_segment ? prepare.size() - prepare_at::kBody : 0;
  item.prepare = std::move(prepare);
  Advance(accepted_, header, 0);
  accepted_ops_.push_back(
      {header.checksum, entry.HasMessages() ? entry.next_offset : next_offset()});
  pending_bytes_ += item.retained_bytes;
  queue_.push_back(std::move(item));
  const auto now = Clock::now();
  last_gap_ = now - last_submission_;
  last_submission_ = now;
  work_.notify_one();
  return {header.op, header.checksum};
}

Result<Ticket> GroupCommit::Submit(std::span<const std::byte> body, bool messages) {
  const std::scoped_lock lock(mutex_);
  messages |= accepted_.segments.has_value();
  const std::uint64_t size = prepare_at::kBody + (messages ? kBatchHeaderBytes : 0) + body.size();
  const auto length = RecordLength(size);
  if (!length) return Fail(ErrorKind::kUnsupported, "record is too long");
  JOURNAL_TRY(Admit(*length));
  PrepareHeader fields;
  fields.group = accepted_.group;
  fields.op = accepted_.head + 1;
  fields.parent = accepted_.head_checksum;
  fields.view = accepted_.certified_log_view.value_or(0);
  std::vector<std::byte> batch;
  if (messages) {
    BatchHeader header;
    header.base_offset = next_offset();
    batch = BuildBatch(header, body);
    body = batch;
    fields.operation = kOperationMessages;
  }
  std::vector<std::byte> prepare = BuildPrepare(fields, body);
  const auto entry = DescribePrepare(prepare, false);
  if (!entry) return tl::make_unexpected(entry.error());
  const PrepareHeader header = ReadPrepareHeader(prepare);
  return Enqueue(std::move(prepare), *entry, header);
}

Result<Ticket> GroupCommit::SubmitPrepare(std::vector<std::byte> prepare) {
  const auto entry = DescribePrepare(prepare, true);
  if (!entry) return tl::make_unexpected(entry.error());
  const PrepareHeader header = ReadPrepareHeader(prepare);
  const std::scoped_lock lock(mutex_);
  const Ticket ticket{header.op, header.checksum};
  if (Find(ticket) != nullptr) return ticket;
  JOURNAL_TRY(CheckFollows(accepted_, header));
  JOURNAL_TRY(Admit(RetainedBytes(*entry)));
  return Enqueue(std::move(prepare), *entry, header);
}

// By its checksum as well: after a truncation another op may bear the number.
const GroupCommit::Accepted* GroupCommit::Find(const Ticket& ticket) const {
  if (ticket.op <= checkpoint_ || ticket.op > accepted_.head) return nullptr;
  const Accepted& found = accepted_ops_[ticket.op - checkpoint_ - 1];
  return found.checksum == ticket.checksum ? &found : nullptr;
}

bool GroupCommit::Acknowledged(const Ticket& ticket) const {
  if (failure_ || ticket.op > durable_head_) return false;
  return ticket.op <= checkpoint_ || Find(ticket) != nullptr;
}

Status GroupCommit::Wait(const Ticket& ticket) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (Acknowledged(ticket)) return {};
    if (failure_) return tl::make_unexpected(*failure_);
    if (Find(ticket) == nullptr) {
      return Fail(ErrorKind::kInvalid, "op " + std::to_string(ticket.op) + " was truncated");
    }
    progress_.wait(lock);
  }
}

Result<Ticket> GroupCommit::Append(std::span<const std::byte> body, bool messages) {
  const auto ticket = Submit(body, messages);
  if (!ticket) return ticket;
  JOURNAL_TRY(Wait(*ticket));
  return ticket;
}

bool GroupCommit::IsDurable(const Ticket& ticket) const {
  const std::scoped_lock lock(mutex_);
  return Acknowledged(ticket);
}

// Queues a mutation and returns its outcome.
Status GroupCommit::Await(Item item, std::unique_lock<std::mutex>& lock) {
  const auto done = std::make_shared<std::optional<Status>>();
  item.done = done;
  pauses_ += item.admission == Admission::kPaused ? 1 : 0;
  ++pending_mutations_;
  queue_.push_back(std::move(item));
  work_.notify_one();
  progress_.wait(lock, [&] { return done->has_value(); });
  return **done;
}

Status GroupCommit::Run(std::function<Status(Journal&)> mutation, Admission admission) {
  std::unique_lock lock(mutex_);
  if (failure_) return tl::make_unexpected(*failure_);
  Item item;
  item.mutation = std::move(mutation);
  item.admission = admission;
  return Await(std::move(item), lock);
}

// Heads go down before the disk is asked, so nothing of what goes is acknowledged from here on.
Status GroupCommit::TruncateFrom(std::uint64_t op) {
  std::unique_lock lock(mutex_);
  if (failure_) return tl::make_unexpected(*failure_);
  if (op > accepted_.head) return {};
  if (op <= checkpoint_) {
    return Fail(ErrorKind::kInvalid, "op " + std::to_string(op) + " is at or below the checkpoint");
  }
  std::erase_if(queue_, [&](const Item& item) {
    const bool drop = !item.mutation && item.op >= op;
    if (drop) pending_bytes_ -= item.retained_bytes;
    return drop;
  });
  accepted_ops_.resize(op - checkpoint_ - 1);
  accepted_.head = op - 1;
  accepted_.head_checksum =
      accepted_ops_.empty() ? checkpoint_checksum_ : accepted_ops_.back().checksum;
  truncated_head_ = truncations_ == 0 ? op - 1 : std::min(truncated_head_, op - 1);
  durable_head_ = std::min(durable_head_, truncated_head_);
  ++truncations_;
  progress_.notify_all();
  Item item;
  item.mutation = [op](Journal& journal) { return journal.TruncateFrom(op); };
  item.truncates = true;
  return Await(std::move(item), lock);
}

bool GroupCommit::CheckpointDue() const {
  const std::scoped_lock lock(mutex_);
  const auto used = static_cast<double>(retained_bytes_ + pending_bytes_);
  return pending_mutations_ == 0 &&
         used >= group_options_.checkpoint_at * static_cast<double>(options_.capacity);
}

std::uint64_t GroupCommit::durable_head() const {
  const std::scoped_lock lock(mutex_);
  return failure_ ? 0 : durable_head_;
}

std::uint64_t GroupCommit::accepted_head() const {
  const std::scoped_lock lock(mutex_);
  return accepted_.head;
}

GroupCommitMetrics GroupCommit::metrics() const {
  const std::scoped_lock lock(mutex_);
  return metrics_;
}

std::optional<Error> GroupCommit::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

}  // namespace tornfs::journal
