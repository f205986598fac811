#include "harness/lazyfs/fault_set.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tornfs::harness::lazyfs {
namespace {

std::string_view TimingName(When when) { return when == When::kBefore ? "before" : "after"; }

// A path that is too much for the expression does not match.
bool Finds(const std::optional<std::regex>& regex, const std::string& path) {
  if (!regex) return true;
  try {
    return std::regex_search(path, *regex);
  } catch (const std::regex_error&) {
    return false;
  }
}

}  // namespace

bool FaultSet::Springs(When when, const TriggerRequest& request) {
  const std::string_view op = OpOf(OpKindName(request.kind));
  if (op.empty()) return false;
  return Due({op, when, request.path, request.to, request.number});
}

std::optional<tornfs::Fault> FaultSet::Ask(const FaultRequest& request) {
  const bool reads =
      request.operation == "read" || request.operation == "open" || request.operation == "access";
  if (!reads) return std::nullopt;
  // What a read does not change is the same before and after it.
  const bool before = Due({request.operation, When::kBefore, request.path, {}, 0});
  if (!before && !Due({request.operation, When::kAfter, request.path, {}, 0})) return std::nullopt;
  spring_();
  return tornfs::Fault{.kind = tornfs::Fault::Kind::kCrash, .error = EIO};
}

bool FaultSet::Due(const Call& call) {
  survive_.clear();
  bool due = false;
  for (Watched& watched : faults_) {
    if (watched.done || due) continue;
    due = std::visit([&](auto& fault) { return Due(fault, watched, call); }, watched.fault);
    watched.done = due;
  }
  return due;
}

bool FaultSet::Due(CrashFault& fault, Watched& /*watched*/, const Call& call) {
  if (fault.op != call.op || call.when != (fault.before ? When::kBefore : When::kAfter)) {
    return false;
  }
  if (!Finds(fault.from_regex, paths_.Full(call.path))) return false;
  if (!fault.to.empty() && !Finds(fault.to_regex, paths_.Full(call.to))) return false;
  Announce(call, true);
  return true;
}

bool FaultSet::Due(TornOp& fault, Watched& watched, const Call& call) {
  if (call.op != "write" || call.when != When::kDuring || !paths_.Means(fault.file, call.path)) {
    return false;
  }
  if (++watched.count != fault.occurrence) return false;
  const Kept all = RangeOf(call.number);
  std::vector<std::uint64_t> sizes = fault.bytes;
  std::uint64_t sum = 0;
  for (const std::uint64_t size : sizes) sum += size;
  if (!sizes.empty() && sum != all.end - all.begin) {
    log_.Warn("[lazyfs.faults]: parts_bytes of torn-op add up to " + std::to_string(sum) +
              " bytes, but the write has " + std::to_string(all.end - all.begin) +
              "; nothing is torn");
    return false;
  }
  if (sizes.empty()) {
    const std::uint64_t part = (all.end - all.begin) / fault.parts;
    sizes.assign(fault.parts, part);
    sizes.back() = all.end - all.begin - part * (fault.parts - 1);
  }
  std::uint64_t begin = all.begin;
  for (std::size_t i = 0; i < sizes.size(); begin += sizes[i++]) {
    if (std::ranges::find(fault.persist, i + 1) == fault.persist.end()) continue;
    survive_.push_back({call.number, begin, begin + sizes[i]});
    log_.Warn("[lazyfs.faults]: will persist " + std::to_string(sizes[i]) + " bytes from offset " +
              std::to_string(begin));
  }
  log_.Warn("[lazyfs.faults]: Added crash fault");
  Announce(call, true);
  return true;
}

bool FaultSet::Due(TornSeq& fault, Watched& watched, const Call& call) {
  const bool ends_row = call.op == "fsync" && call.when == When::kAfter;
  const bool writes = call.op == "write" && call.when == When::kDuring;
  if ((!ends_row && !writes) || !paths_.Means(fault.file, call.path)) return false;
  const std::uint64_t last = *std::ranges::max_element(fault.persist);
  if (writes) {
    ++watched.count;
    if (std::ranges::find(fault.persist, watched.count) != fault.persist.end()) {
      watched.kept.push_back({call.number});
    }
    if (watched.count != last || ++watched.rows != fault.occurrence) return false;
    for (const std::uint64_t write : fault.persist) {
      log_.Warn("[lazyfs.faults]: Going to persist the write " + std::to_string(write) +
                " for the path " + paths_.Full(call.path));
    }
    survive_ = std::move(watched.kept);
    Announce(call, true);
    return true;
  }
  watched.count = 0;
  watched.kept.clear();
  return false;
}

bool FaultSet::Due(ClearFault& fault, Watched& watched, const Call& call) {
  if (fault.op != call.op || call.when == When::kDuring) return false;
  if (!paths_.Means(fault.from, call.path)) return false;
  if (!fault.to.empty() && !paths_.Means(fault.to, call.to)) return false;
  if (call.when == When::kBefore) ++watched.count;
  const bool now = call.when == (fault.before ? When::kBefore : When::kAfter);
  if (!now || watched.count != fault.occurrence) return false;
  Announce(call, fault.crash);
  return true;
}

void FaultSet::Announce(const Call& call, bool dies) {
  log_.Critical("Triggered fault condition (op=" + std::string(call.op) +
                ",timing=" + std::string(TimingName(call.when)) + ")");
  report_();
  if (dies) {
    log_.Critical("Killing LazyFS pid " + std::to_string(::getpid()) + "!");
  } else {
    log_.Warn("[lazyfs.cmds]: clearing cache...");
  }
}

FaultSet::Kept FaultSet::RangeOf(OpNumber number) const {
  Kept range{number, UINT64_MAX, 0};
  engine_.pending().ForEach([&](const Effect& effect) {
    if (effect.op != number || effect.kind != CellKind::kData) return;
    range.begin = std::min(range.begin, effect.offset);
    range.end = std::max(range.end, effect.offset + effect.length);
  });
  if (range.end == 0) range.begin = 0;
  return range;
}

Result<CrashReport> FaultSet::Lose(Engine& engine) {
  const Window window = engine.CrashWindow(Tear::kPage);
  const Choice none = window.None();
  Tree tree = window.State(none);
  for (const Effect& effect : window.effects()) {
    if (effect.kind != CellKind::kData || tree.Find(effect.ino) == nullptr) continue;
    for (const Kept& kept : survive_) {
      const std::uint64_t begin = std::max(kept.begin, effect.offset);
      const std::uint64_t end = std::min(kept.end, effect.offset + effect.length);
      if (kept.op != effect.op || begin >= end) continue;
      Inode& inode = tree.Change(effect.ino);
      const bool zeros = effect.content == kZeros;
      inode.content.Write(begin, end - begin,
                          zeros ? kZeros : effect.content + (begin - effect.offset));
      inode.size = std::max(inode.size, end);
    }
  }
  tree.KeepReachable();
  CrashReport report;
  report.ops = engine.next_op() - 1;
  report.nodes = report.lost = window.nodes().size();
  report.plan = window.Token(none);
  report.tear = window.tear();
  Base base = engine.Snapshot();
  base.durable = std::move(tree);
  base.pending.clear();
  engine.Load(std::move(base), false);
  return report;
}

void FaultSet::Sprung(const Result<CrashReport>& /*report*/) {
  survive_.clear();
  std::erase_if(faults_, [](const Watched& watched) { return watched.done; });
  for (Watched& watched : faults_) {
    watched.count = 0;
    watched.kept.clear();
  }
  log_.Warn("[lazyfs.cmds]: cache is cleared.");
}

}  // namespace tornfs::harness::lazyfs
