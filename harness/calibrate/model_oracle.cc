#include "harness/calibrate/model_oracle.h"

#include <map>
#include <set>
#include <utility>

#include "fusefs/core/engine.h"
#include "fusefs/core/model_rules.h"
#include "fusefs/core/window.h"
#include "harness/device/tree_text.h"
#include "harness/litmus/outcome.h"
#include "harness/litmus/program.h"
#include "harness/litmus/steps.h"

namespace tornfs::harness {
namespace {

// More states than a calibration could see anything of.
constexpr std::uint64_t kStatesMost = 1 << 14;

// The steps in the words of a litmus file, for its parser.
Result<LitmusProgram> ToLitmus(const CalibrationProgram& program) {
  std::string text = program.sectors ? "tear: sector\n" : "";
  for (const auto& [section, steps] :
       {std::pair{"setup\n", &program.setup}, {"run\n", &program.main}}) {
    text += section;
    for (const StepWords& step : *steps) text += "  " + StepText(step) + "\n";
  }
  return ParseLitmus(text, program.name);
}

std::string TextOf(const std::vector<NameSeen>& names) {
  std::vector<NamedTreeEntry> entries;
  for (const NameSeen& name : names) {
    NamedTreeEntry entry{name.path, {}};
    constexpr std::string_view kLink = "-> ";
    if (name.directory) {
      entry.text = "D";
    } else if (name.bytes.starts_with(kLink)) {
      entry.text = "L[" + name.bytes.substr(kLink.size()) + "]";
    } else {
      entry.text = FileText(name.bytes, name.links, name.mode);
      for (const std::string& xattr : name.xattrs) entry.text += " x" + xattr;
    }
    entries.push_back(std::move(entry));
  }
  return TreeText(std::move(entries));
}

// The states of one cut of a recording, by text. False if they are too many.
bool AddStates(const Recording& recording, OpNumber cut, const Model& model, Tear tear,
               const ContentStore& store, std::set<std::string>& trees) {
  const Window window(recording.BaseAt(cut), model, tear, store);
  if (!window.Count(kStatesMost)) return false;
  std::set<Digest> known;
  for (const Choice& choice : window.Enumerate(kStatesMost)) {
    const Tree tree = window.State(choice);
    if (known.insert(tree.VisibleDigest(store)).second) {
      trees.insert(TextOf(NamesOf(tree, store)));
    }
  }
  return true;
}

}  // namespace

Result<AllowedSet> AllowedBy(const Model& model, const CalibrationProgram& program) {
  auto litmus = ToLitmus(program);
  if (!litmus) return AllowedSet{};
  auto store = ContentStore::Open({});
  if (!store) return tl::make_unexpected(store.error());
  Nanoseconds now = 0;
  Engine engine(**store, model, [&now] { return ++now; });
  UnnamedFiles unnamed;
  for (const LitmusStep& step : litmus->setup) {
    if (auto done = Perform(step, engine, unnamed); !done) return tl::make_unexpected(done.error());
  }
  engine.SettleAll();
  engine.Load(engine.Snapshot(), true);
  // The cut behind each step; in front of them that at the start.
  std::vector<OpNumber> cuts{engine.next_op()};
  for (const LitmusStep& step : litmus->run) {
    if (auto done = Perform(step, engine, unnamed); !done) return tl::make_unexpected(done.error());
    cuts.push_back(engine.next_op());
  }
  const auto recording = engine.TakeRecording();
  AllowedSet allowed;
  std::map<std::string, std::vector<bool>> trees;
  for (std::size_t n = 0; n < cuts.size(); ++n) {
    std::set<std::string> here;
    // The ops inside the next step count for this cut: that step may be half done.
    const OpNumber end = n + 1 < cuts.size() ? cuts[n + 1] : cuts[n] + 1;
    OpNumber cut = cuts[n];
    do {
      if (!AddStates(*recording, cut, model, litmus->tear, **store, here)) return AllowedSet{};
    } while (++cut < end);
    for (const std::string& tree : here) {
      std::vector<bool>& at = trees[tree];
      at.resize(cuts.size());
      at[n] = true;
    }
  }
  for (auto& [tree, at] : trees) allowed.trees.push_back({tree, {}, std::move(at)});
  allowed.known = true;
  return allowed;
}

void NameRules(const Model& model, const CalibrationProgram& program,
               const std::vector<bool>& wanted, AllowedSet& allowed) {
  const auto nameless = [&](std::size_t i) { return wanted[i] && allowed.trees[i].rule.empty(); };
  const auto try_rule = [&](const RuleWords& words) {
    const RuleSetting& setting = model.At(words.rule);
    for (std::size_t answer = 0; answer < words.answers.size(); ++answer) {
      bool any = false;
      for (std::size_t i = 0; i < wanted.size(); ++i) any = any || nameless(i);
      if (!any) return;
      if (answer == setting.answer) continue;
      Model variant = model;
      variant.rules[static_cast<std::size_t>(words.rule)].answer =
          static_cast<std::uint8_t>(answer);
      const auto without = AllowedBy(variant, program);
      if (!without || !without->known) continue;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!nameless(i) || FindAllowed(*without, allowed.trees[i].tree) != SIZE_MAX) continue;
        allowed.trees[i].rule =
            std::string(words.name) + " [" + std::string(EvidenceName(setting.evidence)) + "]";
      }
    }
  };
  // Nearly everything hangs on these two: they are named where nothing else is to blame.
  const auto is_general = [](Rule rule) { return rule == Rule::kOrder || rule == Rule::kTearing; };
  for (const bool general : {false, true}) {
    for (const RuleWords& words : RuleVocabulary()) {
      if (is_general(words.rule) == general) try_rule(words);
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (nameless(i)) allowed.trees[i].rule = "several rules";
  }
}

}  // namespace tornfs::harness
