// bench: how fast records are acknowledged, and what each acknowledgment costs the disk.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "journal/group_commit.h"
#include "journal/with_journal.h"

namespace tornfs::journal::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::vector<double>;

double MicrosSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double Percentile(const Micros& sorted, double part) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(last * part)];
}

struct Measured {
  Micros latencies;  // Of one acknowledgment each.
  double seconds = 0;
  GroupCommitMetrics metrics;
};

// One caller that appends whole groups.
Status RunGroups(Storage& storage, const Request& request, Measured& measured) {
  auto journal = Journal::Open(storage, request.options);
  if (!journal) return tl::make_unexpected(journal.error());
  const std::vector<std::byte> body(request.record_bytes, std::byte{'b'});
  const auto begin = Clock::now();
  for (std::uint64_t done = 0; done < request.records; done += request.group) {
    const auto started = Clock::now();
    std::vector<std::vector<std::byte>> prepares;
    PrepareHeader fields;
    fields.group = (*journal)->state().group;
    fields.op = (*journal)->head();
    fields.parent = (*journal)->state().head_checksum;
    for (std::uint64_t i = 0; i < request.group; ++i) {
      ++fields.op;
      prepares.push_back(BuildPrepare(fields, body));
      fields.parent = ReadPrepareHeader(prepares.back()).checksum;
    }
    const std::vector<PrepareView> batch(prepares.begin(), prepares.end());
    Status appended = (*journal)->AppendBatch(batch);
    if (!appended && appended.error().kind == ErrorKind::kCapacity) {
      JOURNAL_TRY((*journal)->Checkpoint((*journal)->head()));
      appended = (*journal)->AppendBatch(batch);
    }
    JOURNAL_TRY(appended);
    JOURNAL_TRY((*journal)->Sync());
    measured.latencies.insert(measured.latencies.end(), request.group, MicrosSince(started));
    ++measured.metrics.completed_batches;
  }
  measured.seconds = MicrosSince(begin) / 1e6;
  return {};
}

// Many callers, each with one record on its way.
Status RunThreads(Storage& storage, const Request& request, Measured& measured) {
  GroupCommitOptions group_options;
  group_options.delay = std::chrono::microseconds(request.delay_us);
  auto started = GroupCommit::Start(storage, request.directory, request.options, group_options);
  if (!started) return tl::make_unexpected(started.error());
  GroupCommit& commit = **started;
  const std::vector<std::byte> body(request.record_bytes, std::byte{'b'});
  std::atomic<std::uint64_t> next{0};
  std::vector<Micros> latencies(request.threads);
  std::vector<Status> outcomes(request.threads);
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < request.threads; ++i) {
      threads.emplace_back([&, i] {
        while (outcomes[i] && next.fetch_add(1) < request.records) {
          const auto sent = Clock::now();
          const auto ticket = commit.Append(body);
          if (ticket) {
            latencies[i].push_back(MicrosSince(sent));
          } else if (ticket.error().kind == ErrorKind::kCapacity) {
            next.fetch_sub(1);
            outcomes[i] = commit.Run([](Journal& j) { return j.Checkpoint(j.head()); });
          } else {
            outcomes[i] = tl::make_unexpected(ticket.error());
          }
        }
      });
    }
  }
  measured.seconds = MicrosSince(begin) / 1e6;
  for (const Micros& each : latencies) {
    measured.latencies.insert(measured.latencies.end(), each.begin(), each.end());
  }
  measured.metrics = commit.metrics();
  for (const Status& outcome : outcomes) JOURNAL_TRY(outcome);
  return {};
}

}  // namespace

int RunBench(const Request& request) {
  PosixStorage storage(request.directory);
  Measured measured;
  const Status done = request.threads != 0 ? RunThreads(storage, request, measured)
                                           : RunGroups(storage, request, measured);
  if (!done) return PrintError(done.error(), request.json);
  std::sort(measured.latencies.begin(), measured.latencies.end());
  const auto acks = static_cast<double>(measured.latencies.size());
  const IoCounts& counts = storage.counts();
  const nlohmann::ordered_json out{
      {"acks", measured.latencies.size()},
      {"acks_per_second", acks / measured.seconds},
      {"p50_us", Percentile(measured.latencies, 0.5)},
      {"p95_us", Percentile(measured.latencies, 0.95)},
      {"p99_us", Percentile(measured.latencies, 0.99)},
      {"groups", measured.metrics.completed_batches},
      {"bytes_per_ack", static_cast<double>(counts.bytes.load()) / acks},
      {"barriers_per_ack", static_cast<double>(counts.barriers.load()) / acks}};
  if (request.json) return Print(out.dump() + "\n");
  std::string text;
  for (const auto& [key, value] : out.items()) text += key + ": " + value.dump() + "\n";
  return Print(text);
}

}  // namespace tornfs::journal::cli
