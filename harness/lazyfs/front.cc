#include "harness/lazyfs/front.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace tornfs::harness::lazyfs {
namespace {

constexpr const char* kWorker = "[lazyfs.faults.worker]: ";
constexpr const char* kCommands = "[lazyfs.cmds]: ";

// Byte ranges of a file that are not durable, rising and apart.
using Ranges = std::map<std::uint64_t, std::uint64_t>;

void AddRange(Ranges& ranges, std::uint64_t begin, std::uint64_t end) {
  auto next = ranges.upper_bound(begin);
  if (next != ranges.begin() && std::prev(next)->second >= begin) {
    --next;
    begin = next->first;
  }
  while (next != ranges.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ranges.erase(next);
  }
  ranges[begin] = end;
}

}  // namespace

Result<std::unique_ptr<Front>> Front::Open(const Parts& parts, const Config& config,
                                           const std::string& below) {
  auto log = Log::Open(config.logfile);
  if (!log) return tl::make_unexpected(log.error());
  std::unique_ptr<Front> front(new Front(parts, std::move(*log), below));
  auto fifos = Fifos::Open(parts.loop, config.fifo, config.completed,
                           [raw = front.get()](std::string_view line) { raw->Obey(line); });
  if (!fifos) return tl::make_unexpected(fifos.error());
  front->fifos_ = std::move(*fifos);
  for (const Fault& fault : config.faults) front->faults_.Add(fault);
  front->log_.Info("[lazyfs.fifo]: running LazyFS...");
  if (config.log_all_operations) {
    front->log_.Warn("[lazyfs.ops]: log_all_operations is not offered; see `tornfs status`");
  }
  front->log_.Info(std::string(kWorker) + "waiting for fault commands...");
  return front;
}

Front::Front(const Parts& parts, Log log, const std::string& below)
    : parts_(parts),
      log_(std::move(log)),
      faults_(
          parts.mount.engine(), log_, Paths(parts.mount.server().mount_point(), below),
          [this] { Report(); }, [this] { parts_.crasher.SpringTrap(); }) {
  parts_.crasher.SetTrap(&faults_);
  parts_.faults.SetFirst(&faults_);
}

Front::~Front() {
  parts_.faults.SetFirst(nullptr);
  parts_.crasher.SetTrap(nullptr);
  log_.Info("[lazyfs]: stopping LazyFS...");
}

void Front::Obey(std::string_view line) {
  const auto command = ParseCommand(line);
  const std::string name = CommandName(line);
  if (!command) {
    if (command.error().code == ErrorCode::kNotFound) {
      log_.Warn(std::string(kWorker) + command.error().context);
    } else {
      RefuseFault(name, command.error());
    }
    (void)fifos_->Complete("failed::" + (name.empty() ? "?" : name) + "::" +
                           command.error().context.substr(0, command.error().context.find('\n')));
    return;
  }
  if (name != "crash") log_.Info(std::string(kWorker) + "received '" + std::string(line) + "'");
  Accept(*command, line);
}

void Front::RefuseFault(const std::string& name, const Error& error) {
  log_.Warn(std::string(kWorker) + "received: INVALID " + name + " fault:");
  std::string_view mistakes = error.context;
  while (!mistakes.empty()) {
    const std::size_t end = std::min(mistakes.find('\n'), mistakes.size());
    log_.Warn(std::string(kWorker) + name +
              " fault error: " + std::string(mistakes.substr(0, end)));
    mistakes.remove_prefix(std::min(end + 1, mistakes.size()));
  }
}

void Front::Accept(const Command& command, std::string_view line) {
  if (const auto* order = std::get_if<Order>(&command)) return Carry(*order);
  if (const auto* crash = std::get_if<CrashFault>(&command)) {
    const std::string arrow = std::string(kWorker) + "=> crash: ";
    const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
    log_.Critical(std::string(kWorker) + "received: VALID crash fault:");
    log_.Critical(arrow + "timing = " + (crash->before ? "before" : "after"));
    log_.Critical(arrow + "operation = " + crash->op);
    log_.Critical(arrow + "from regex path = " + shown(crash->from));
    if (!crash->to.empty()) log_.Critical(arrow + "to regex path = " + crash->to);
    faults_.Add(*crash);
  } else {
    if (const auto* torn_op = std::get_if<TornOp>(&command)) faults_.Add(*torn_op);
    if (const auto* torn_seq = std::get_if<TornSeq>(&command)) faults_.Add(*torn_seq);
    log_.Info(std::string(kWorker) + "configured successfully '" + std::string(line) + "'");
  }
  (void)fifos_->Complete("finished::" + CommandName(line));
}

void Front::Carry(Order order) {
  switch (order) {
    case Order::kClearCache: return ClearCache();
    case Order::kCheckpoint: return Checkpoint();
    case Order::kUsage: Usage(); break;
    case Order::kReport: Report(); break;
    case Order::kHelp: Help(); break;
  }
  static constexpr std::array<const char*, 5> kNames{
      "clear-cache", "cache-checkpoint", "display-cache-usage", "unsynced-data-report", "help"};
  (void)fifos_->Complete(std::string("finished::") + kNames[static_cast<std::size_t>(order)]);
}

void Front::ClearCache() {
  log_.Warn(std::string(kCommands) + "clear cache request submitted...");
  const auto report = parts_.crasher.CrashNow({});
  if (!report) {
    log_.Warn(std::string(kCommands) + report.error().Message());
    (void)fifos_->Complete("failed::clear-cache::" + report.error().Message());
    return;
  }
  log_.Warn(std::string(kCommands) + "cache is cleared.");
  (void)fifos_->Complete("finished::clear-cache");
}

void Front::Checkpoint() {
  log_.Warn(std::string(kCommands) + "cache checkpoint request submitted...");
  if (const Status settled = parts_.mount.SettleAll(); !settled) {
    log_.Warn(std::string(kCommands) + settled.error().Message());
    (void)fifos_->Complete("failed::cache-checkpoint::" + settled.error().Message());
    return;
  }
  log_.Warn(std::string(kCommands) + "checkpoint is done.");
  (void)fifos_->Complete("finished::cache-checkpoint");
}

// Of the memory limit: there is no page cache whose pages could be counted.
void Front::Usage() {
  const ContentStore& store = parts_.mount.store();
  const double share =
      100.0 * static_cast<double>(store.size() - store.moved()) /
      static_cast<double>(std::max<std::uint64_t>(store.options().memory_limit, 1));
  log_.Warn(std::string(kCommands) + "cache usage (%pages) is " + std::to_string(share) + "%");
}

void Front::Report() {
  const Engine& engine = parts_.mount.engine();
  log_.Warn(std::string(kCommands) + "report request submitted...");
  std::map<Ino, Ranges> unsynced;
  engine.pending().ForEach([&](const Effect& effect) {
    if (effect.kind != CellKind::kData || effect.content == kZeros) return;
    AddRange(unsynced[effect.ino], effect.offset, effect.offset + effect.length);
  });
  log_.Warn(std::string(kCommands) + "report generated.");
  const std::string prefix = std::string(kCommands) + "report: ";
  std::uint64_t total = 0;
  for (const auto& [ino, ranges] : unsynced) {
    log_.Info(prefix + "[inode " + std::to_string(ino) + "] is not fully synced, info:");
    for (const auto& [begin, end] : ranges) {
      log_.Info(prefix + "(block " + std::to_string(begin / kPageBytes) + ") to (block " +
                std::to_string((end - 1) / kPageBytes) + ") [byte index " + std::to_string(begin) +
                " to index " + std::to_string(end - 1) + "]");
      total += end - begin;
    }
    log_.Info(prefix + "files mapped to this inode:");
    log_.Info(prefix + "=> file: '" + parts_.mount.server().mount_point() + "/" +
              engine.current().PathOf(ino) + "'");
  }
  if (unsynced.empty()) {
    log_.Info(prefix + "all data blocks are synced!");
  } else {
    log_.Info(prefix + "total number of bytes un-fsynced: " + std::to_string(total) + " bytes.");
  }
}

void Front::Help() {
  for (const char* text :
       {"'lazyfs::clear-cache' => clears un-fsynced data",
        "'lazyfs::display-cache-usage' => shows the cache usage (#pages)",
        "'lazyfs::cache-checkpoint' => writes all cached data",
        "'lazyfs::unsynced-data-report' => reports which files have un-fsynced data",
        "'lazyfs::crash::timing=...::op=...::from_rgx=...[::to_rgx=...]' => loses power there",
        "'lazyfs::torn-op::file=...::persist=...::parts=...|parts_bytes=...' => tears a write",
        "'lazyfs::torn-seq::op=write::file=...::persist=...' => keeps some writes of a row"}) {
    log_.Info(std::string("[lazyfs.faults.worker] help: ") + text);
  }
}

}  // namespace tornfs::harness::lazyfs
