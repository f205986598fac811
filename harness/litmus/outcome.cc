#include "harness/litmus/outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "fusefs/core/crash_points.h"
#include "harness/litmus/steps.h"

namespace tornfs::harness {
namespace {

void AddNames(const Tree& tree, const ContentStore& store, Ino dir, const std::string& at,
              std::vector<NameSeen>& names) {
  for (auto entry = tree.Find(dir)->entries.Begin(); entry.valid(); entry.Next()) {
    const Inode& inode = *tree.Find(entry.value().ino);
    NameSeen seen{at + entry.key().name, inode.IsDirectory(), "", 1, 0644};
    if (inode.IsDirectory()) {
      names.push_back(seen);
      AddNames(tree, store, entry.value().ino, seen.path + "/", names);
      continue;
    }
    seen.links = inode.links;
    seen.mode = S_ISLNK(inode.mode) ? 0644U : inode.mode & 07777U;
    if (S_ISLNK(inode.mode)) {
      seen.bytes = "-> " + inode.target;
    } else {
      seen.bytes.resize(inode.size);
      inode.content.Read(store, 0, std::as_writable_bytes(std::span(seen.bytes)));
      for (auto xattr = inode.xattrs.Begin(); xattr.valid(); xattr.Next()) {
        seen.xattrs.push_back(xattr.key());
      }
      std::ranges::sort(seen.xattrs);
      std::ranges::replace(seen.bytes, static_cast<char>(ContentStore::kStaleByte), '?');
    }
    names.push_back(std::move(seen));
  }
}

std::string LetterOf(const Observation& observation, const std::vector<NameSeen>& tree) {
  const auto found = std::ranges::find(tree, observation.path, &NameSeen::path);
  if (found == tree.end()) return "A";
  for (const auto& [letter, value] : observation.letters) {
    constexpr std::string_view kXattr = "xattr:";
    const bool is = value.starts_with("mode:") ? value == fmt::format("mode:{:o}", found->mode)
                    : value.starts_with(kXattr)
                        ? std::ranges::count(found->xattrs, value.substr(kXattr.size())) > 0
                        : value == found->bytes && !found->directory;
    if (is) return letter;
  }
  if (found->directory) return "D";
  if (found->bytes.empty()) return "E";
  if (found->bytes.find('?') != std::string::npos) return "G";
  if (found->bytes.find_first_not_of('\0') == std::string::npos) return "0";
  return "P";
}

}  // namespace

std::vector<NameSeen> NamesOf(const Tree& tree, const ContentStore& store) {
  std::vector<NameSeen> names;
  AddNames(tree, store, kRootIno, "", names);
  std::ranges::sort(names);
  return names;
}

std::string ShowOutcome(const std::vector<NameSeen>& tree) {
  std::string text;
  for (const NameSeen& seen : tree) {
    if (!text.empty()) text += "; ";
    text += seen.path;
    if (seen.directory) {
      text += "/";
      continue;
    }
    text += seen.bytes.starts_with("-> ") ? " " + seen.bytes : "=" + ShowRuns(seen.bytes);
    if (seen.links > 1) text += fmt::format(" nl{}", seen.links);
    if (seen.mode != 0644) text += fmt::format(" m{:o}", seen.mode);
    for (const std::string& name : seen.xattrs) text += " x" + name;
  }
  return text.empty() ? "(nothing)" : text;
}

std::string LettersOf(const LitmusProgram& program, const std::vector<NameSeen>& tree) {
  std::string letters;
  for (const Observation& observation : program.observations) {
    letters += LetterOf(observation, tree);
  }
  return letters;
}

Result<OutcomeSet> OutcomesOf(const Recording& recording, const Model& model, Tear tear,
                              bool at_end, const ContentStore& store) {
  OutcomeSet outcomes;
  std::set<Digest> seen;
  for (const CrashPoint& point : PowerPoints(recording)) {
    if (at_end && point.cut != recording.end()) continue;
    const Window window(recording.BaseAt(point.cut), model, tear, store);
    if (!window.Count(kMaxStates)) {
      return Fail(ErrorCode::kInvalid, "model " + model.name + " allows more than " +
                                           std::to_string(kMaxStates) + " states");
    }
    for (const Choice& choice : window.Enumerate(kMaxStates)) {
      const Tree tree = window.State(choice);
      if (seen.insert(tree.VisibleDigest(store)).second) outcomes.insert(NamesOf(tree, store));
    }
  }
  return outcomes;
}

Result<OutcomeSet> RunLitmus(const LitmusProgram& program, const Model& model) {
  auto store = ContentStore::Open({});
  if (!store) return tl::make_unexpected(store.error());
  Nanoseconds now = 0;
  Engine engine(**store, model, [&now] { return ++now; });
  UnnamedFiles unnamed;
  for (const LitmusStep& step : program.setup) {
    if (auto done = Perform(step, engine, unnamed); !done) return tl::make_unexpected(done.error());
  }
  engine.SettleAll();
  engine.Load(engine.Snapshot(), true);
  for (const LitmusStep& step : program.run) {
    if (auto done = Perform(step, engine, unnamed); !done) return tl::make_unexpected(done.error());
  }
  const auto recording = engine.TakeRecording();
  return OutcomesOf(*recording, model, program.tear, program.at_end, **store);
}

std::uint64_t Fingerprint(const OutcomeSet& outcomes) {
  std::set<std::string> lines;
  for (const auto& tree : outcomes) lines.insert(ShowOutcome(tree));
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& line : lines) {
    for (const char c : line + "\n") {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return hash;
}

}  // namespace tornfs::harness
