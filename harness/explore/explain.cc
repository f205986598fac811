#include "harness/explore/explain.h"

#include <algorithm>
#include <map>

namespace tornfs::harness {
namespace {

std::string Quote(const std::string& path) { return "`" + path + "`"; }

std::string DirectoryOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "the top directory"
                                    : "the directory " + Quote(path.substr(0, slash));
}

std::string Number(std::uint64_t value) { return std::to_string(value); }

// What the lost op did, and what is missing now.
std::string Describe(const Loss& loss, const std::string& deadline) {
  const std::string at = " at op " + Number(loss.op);
  const std::string path = Quote(loss.path);
  switch (loss.kind) {
    case OpKind::kRename:
      return Quote(loss.path + " -> " + loss.to) + " was renamed" + at + " and " +
             DirectoryOf(loss.to) + " was not synced before " + deadline + "; the rename was lost";
    case OpKind::kUnlink:
    case OpKind::kRmdir:
      return path + " was removed" + at + " and " + DirectoryOf(loss.path) +
             " was not synced before " + deadline + "; it came back";
    case OpKind::kCreate:
    case OpKind::kMknod:
    case OpKind::kMkdir:
    case OpKind::kSymlink:
      return path + " was created" + at + " and " + DirectoryOf(loss.path) +
             " was not synced before " + deadline + "; the name was lost";
    case OpKind::kLink:
      return Quote(loss.to) + " was linked to " + path + at + " and " + DirectoryOf(loss.to) +
             " was not synced before " + deadline + "; the name was lost";
    case OpKind::kTruncate:
      return path + " was truncated" + at + " and not synced before " + deadline +
             "; the truncation was lost";
    case OpKind::kChmod:
    case OpKind::kChown:
    case OpKind::kSetxattr:
    case OpKind::kRemovexattr:
    case OpKind::kSetflags:
      return path + " got new attributes" + at + " and was not synced before " + deadline +
             "; they were lost";
    default: break;
  }
  std::string text = path + " was written" + at + " and not synced before " + deadline + "; ";
  if (loss.torn_at > 0) return text + "the write was torn after " + Number(loss.torn_at) + " bytes";
  if (loss.bytes == 0) return text + "its new size was lost";
  text += loss.whole ? "the write was lost" : Number(loss.bytes) + " bytes of the write were lost";
  if (loss.size_kept) text += " while its size was kept";
  return text;
}

std::string Deadline(const Step& step, const Recording& history) {
  const std::string op = Number(step.point.cut);
  if (step.point.cut == history.end()) return "the power was cut at the end (op " + op + ")";
  const std::string kind(OpKindName(history.At(step.point.cut).kind));
  return "the power was cut at op " + op + " (" + kind + ")";
}

}  // namespace

std::vector<Loss> LossesOf(const PlanRun& run, const PowerLossSeen& seen) {
  const Window& window = seen.window;
  const Choice& choice = seen.choice;
  std::map<OpNumber, Loss> losses;
  std::map<OpNumber, bool> kept;
  std::map<OpNumber, bool> size_kept;
  // What is lost only because something before it was lost is no loss of its own.
  std::map<OpNumber, bool> first;
  for (std::uint32_t i = 0; i < window.nodes().size(); ++i) {
    const Node& node = window.nodes()[i];
    if (choice.kept[i]) {
      kept[node.op] = true;
      for (const Part& part : node.parts) {
        if (window.effects()[part.effect].kind == CellKind::kSize) size_kept[node.op] = true;
      }
      continue;
    }
    if (std::ranges::all_of(node.requires_, [&](std::uint32_t n) { return choice.kept[n]; })) {
      first[node.op] = true;
    }
    Loss& loss = losses[node.op];
    loss.op = node.op;
    if (const Op* op = run.FindOp(node.op)) {
      loss.kind = op->kind;
      loss.path = op->path;
      loss.to = op->to;
    }
    for (const Part& part : node.parts) {
      if (part.kind == PartKind::kMade) loss.bytes += part.end - part.begin;
    }
    for (const Choice::Torn& torn : choice.torn) {
      if (torn.node == i) loss.torn_at = torn.bytes;
    }
  }
  std::vector<Loss> result;
  for (auto& [number, loss] : losses) {
    if (!first.contains(number)) continue;
    loss.whole = !kept.contains(number);
    loss.size_kept = size_kept.contains(number);
    result.push_back(loss);
  }
  return result;
}

std::vector<Loss> AllLosses(const PlanRun& run) {
  std::vector<Loss> losses;
  for (const PowerLossSeen& seen : run.power_losses) {
    const std::vector<Loss> more = LossesOf(run, seen);
    losses.insert(losses.end(), more.begin(), more.end());
  }
  return losses;
}

namespace {

// One crash of the plan, as a clause.
std::string ExplainStep(const Step& step, const Recording& history, const PlanRun& run,
                        const PowerLossSeen* seen) {
  if (step.kind == Step::Kind::kKill) {
    return "the process was killed after op " + Number(step.point.cut - 1);
  }
  const auto losses = seen == nullptr ? std::vector<Loss>() : LossesOf(run, *seen);
  if (losses.empty()) return Deadline(step, history) + " and nothing was lost";
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(losses.size(), kNamed); ++i) {
    if (i > 0) text += "; ";
    text += Describe(losses[i], i == 0 ? Deadline(step, history) : "that");
  }
  if (losses.size() > kNamed) text += "; and " + Number(losses.size() - kNamed) + " more";
  return text;
}

}  // namespace

std::string Explain(const Plan& plan, const PlanRun& run) {
  std::string text;
  bool lost = false;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto seen = std::ranges::find(run.power_losses, i, &PowerLossSeen::step);
    const PowerLossSeen* power = seen == run.power_losses.end() ? nullptr : &*seen;
    lost = power != nullptr && !LossesOf(run, *power).empty();
    if (i > 0) text += ", and recovery ran; then ";
    text += ExplainStep(plan.steps[i], *run.histories[i], run, power);
  }
  if (!lost) text += "; what the program had done by then was not enough";
  return text;
}

namespace {

std::string OpLine(const Op& op) {
  std::string line = Number(op.number) + "  " + std::string(OpKindName(op.kind));
  if (!op.path.empty() || op.ino == kRootIno) line += "  " + (op.path.empty() ? "." : op.path);
  if (!op.to.empty()) line += " -> " + op.to;
  if (op.length > 0) line += "  " + Number(op.length) + " B at " + Number(op.offset);
  return line;
}

void AddHistory(const Recording& history, const Step& step, std::string& text) {
  std::size_t promise = 0;
  const auto promises_at = [&](OpNumber cut) {
    while (promise < step.point.promises && history.promises[promise].cut <= cut) {
      text += "        promised: " + history.promises[promise++].line + "\n";
    }
  };
  for (const Op& op : history.ops) {
    if (op.number >= step.point.cut) break;
    promises_at(op.number);
    text += OpLine(op) + "\n";
  }
  promises_at(step.point.cut);
}

// What was kept and lost; pieces of a write that fared alike are one line.
void AddOutcome(const PowerLossSeen& seen, std::string& text) {
  const Window& window = seen.window;
  const Choice& choice = seen.choice;
  const auto torn_at = [&](std::uint32_t node) {
    return std::ranges::find(choice.torn, node, &Choice::Torn::node);
  };
  for (std::uint32_t node = 0; node < window.nodes().size(); ++node) {
    const std::uint32_t first = node;
    while (torn_at(node) == choice.torn.end() && window.GoesOn(node) &&
           torn_at(node + 1) == choice.torn.end() && choice.kept[node] == choice.kept[node + 1]) {
      ++node;
    }
    text += choice.kept[node] ? "     kept  " : "     LOST  ";
    text += "op " + Number(window.nodes()[node].op) + ": ";
    text += first == node ? window.Describe(node) : window.DescribeBytes(first, node);
    if (const auto torn = torn_at(node); torn != choice.torn.end()) {
      text += ", torn: " + Number(torn->bytes) + " bytes are there";
    }
    text += "\n";
  }
}

}  // namespace

std::string Timeline(const Plan& plan, const PlanRun& run) {
  std::string text;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    text += i == 0 ? "workload\n" : "recovery\n";
    AddHistory(*run.histories[i], step, text);
    const bool kill = step.kind == Step::Kind::kKill;
    text += kill ? "---- killed\n" : "---- power lost before op " + Number(step.point.cut) + "\n";
    for (const PowerLossSeen& seen : run.power_losses) {
      if (seen.step != i) continue;
      AddOutcome(seen, text);
    }
  }
  text += run.verdict.phase + ": " + run.verdict.title + "\n";
  return text;
}

}  // namespace tornfs::harness
