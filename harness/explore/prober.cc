#include "harness/explore/prober.h"

namespace tornfs::harness {
namespace {

// Enough for every window of an exploration of minutes; beyond it, asking again is cheaper than
// keeping trees alive.
constexpr std::size_t kRemembered = 1U << 16;

}  // namespace

Digest WorldName(const Situation& situation, const ContentStore& store) {
  const Base& base = situation.base;
  const Digest tree = base.durable.ExactDigest(store);
  return Mix(Mix(Mix(tree, base.next_op), base.next_ino), static_cast<std::uint64_t>(base.time));
}

std::string PromiseText(const Recording& recording, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += recording.promises[i].line + "\n";
  return text;
}

Prober::Prober(Stage& stage, const ContentStore& store, std::vector<std::string> recover,
               std::vector<std::string> check)
    : stage_(stage), store_(store), recover_(std::move(recover)), check_(std::move(check)) {}

Result<RunResult> Prober::Run(const Situation& situation, const std::vector<std::string>& command,
                              bool is_recovery, bool record) {
  ++runs_;
  RunRequest request;
  request.arguments = command;
  request.promises = situation.promises;
  request.has_promises = true;
  request.output_is_promises = is_recovery;
  request.record = record;
  auto result = stage_.Run(situation.base, request);
  if (result) stragglers_ += result->report.stragglers;
  if (result && result->report.left_outside) ++left_outside_;
  return result;
}

Result<std::shared_ptr<const Recovered>> Prober::Recover(const Situation& situation, bool record) {
  const bool settled = situation.base.pending.empty();
  const Digest world = settled ? WorldName(situation, store_) : Digest();
  const Digest both = Mix(world, Hash128(situation.promises));
  if (settled) {
    for (const Digest& key : {world, both}) {
      const auto known = recoveries_.find(key);
      if (known != recoveries_.end() && (!record || known->second->recording)) {
        return known->second;
      }
    }
  }
  auto result = Run(situation, recover_, true, record);
  if (!result) return tl::make_unexpected(result.error());
  auto recovered = std::make_shared<Recovered>();
  recovered->verdict = JudgeRecovery(*result);
  recovered->end = std::move(result->end);
  recovered->promised = result->output.substr(0, result->output.rfind('\n') + 1);
  recovered->recording = result->recording;
  recovered->read_promises = result->read_promises;
  if (settled) {
    if (recoveries_.size() >= kRemembered) recoveries_.clear();
    recoveries_[result->read_promises ? both : world] = recovered;
  }
  return std::shared_ptr<const Recovered>(std::move(recovered));
}

Result<Recovered> Prober::Check(const Situation& situation, bool record) {
  Recovered checked;
  if (check_.empty()) return checked;
  // What is still pending is in the tree that the check sees.
  Tree tree = situation.base.durable;
  for (const Effect& effect : situation.base.pending) Apply(effect, tree);
  const Digest key = Mix(tree.ExactDigest(store_), Hash128(situation.promises));
  if (!record) {
    if (const auto known = checks_.find(key); known != checks_.end()) {
      checked.verdict = known->second;
      return checked;
    }
  }
  auto result = Run(situation, check_, false, record);
  if (!result) return tl::make_unexpected(result.error());
  checked.verdict = JudgeCheck(*result);
  checked.recording = result->recording;
  if (checks_.size() >= kRemembered * 4) checks_.clear();
  checks_[key] = checked.verdict;
  return checked;
}

}  // namespace tornfs::harness
