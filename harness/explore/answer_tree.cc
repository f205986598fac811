#include "harness/explore/answer_tree.h"

#include <utility>

namespace tornfs::harness {
namespace {

Digest EffectDigest(const Effect& effect, const ContentStore& store) {
  Digest digest =
      Hash128(effect.name ? *effect.name : std::string(), static_cast<std::uint64_t>(effect.kind));
  digest = Mix(Mix(Mix(digest, effect.ino), effect.offset), effect.length);
  digest = Mix(Mix(digest, effect.value), effect.child);
  if (effect.kind != CellKind::kData || effect.content == kZeros) return digest;
  return Mix(digest, Hash128(std::span(store.At(effect.content), effect.length)));
}

}  // namespace

void DigestChanges(ProgramRun& run, const ContentStore& store) {
  const Recording& recording = *run.recording;
  const std::size_t pending = recording.start.pending.size();
  std::size_t op = 0;
  std::size_t effect = 0;
  const auto add = [&](std::size_t ops, std::size_t effects) {
    Digest digest;
    for (; op < ops; ++op) {
      const Op& made = recording.ops[op];
      digest =
          Mix(Mix(Mix(digest, static_cast<std::uint64_t>(made.kind)), made.ino), Hash128(made.to));
    }
    for (; effect < effects; ++effect) {
      digest = Mix(digest, EffectDigest(recording.effects[pending + effect], store));
    }
    run.did.push_back(digest);
  };
  for (const Asked& asked : run.asked) add(asked.ops, asked.effects);
  add(recording.ops.size(), recording.effects.size() - pending);
}

AnswerTree::Node* AnswerTree::Node::Find(const Digest& answer) const {
  const auto found = answers_.find(answer);
  return found == answers_.end() ? nullptr : found->second.get();
}

std::string AnswerTree::Difference(const Node& node, const ProgramRun& run, std::size_t place) {
  const ProgramRun& known = *node.run_;
  const std::string after = place == 0 ? std::string("at its start")
                                       : "after " + std::to_string(place) +
                                             " equal answers, the last to '" +
                                             run.asked[place - 1].question.Describe() + "',";
  if (known.did[place] != run.did[place]) return after + " it changed files differently";
  const bool ended = place == run.asked.size();
  if (ended != node.leaf()) {
    const Question& asked = ended ? node.next().question : run.asked[place].question;
    return after + " it asked for " + asked.Describe() + " once and ended once";
  }
  if (!ended) {
    if (node.next().question == run.asked[place].question) return "";
    return after + " it asked for " + node.next().question.Describe() + " once and for " +
           run.asked[place].question.Describe() + " once";
  }
  if (known.verdict.Signature() != run.verdict.Signature() ||
      known.verdict.judgement != run.verdict.judgement) {
    return after + " it ended with '" + known.verdict.title + "' once and with '" +
           run.verdict.title + "' once";
  }
  return known.promised == run.promised ? "" : after + " it printed different lines";
}

std::string AnswerTree::Add(std::shared_ptr<const ProgramRun> run) {
  std::unique_ptr<Node>* at = &root_;
  for (std::size_t place = 0; place <= run->asked.size(); ++place) {
    if (*at == nullptr) {
      *at = std::make_unique<Node>();
      (*at)->run_ = run;
      (*at)->place_ = place;
      if ((*at)->leaf()) ++leaves_;
    } else if (std::string difference = Difference(**at, *run, place); !difference.empty()) {
      return difference;
    }
    if (place < run->asked.size()) at = &(*at)->answers_[run->asked[place].answer];
  }
  return "";
}

}  // namespace tornfs::harness
