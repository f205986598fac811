#include "harness/explore/choices.h"

#include <algorithm>
#include <set>

namespace tornfs::harness {
namespace {

class Chooser {
 public:
  Chooser(const Window& window, std::uint64_t limit) : window_(window), limit_(limit) {}

  void Add(Choice choice) {
    if (full()) return;
    if (seen_.insert(window_.Token(choice)).second) set_.choices.push_back(std::move(choice));
  }
  [[nodiscard]] bool full() const { return set_.choices.size() >= limit_; }

  // Of a window with more nodes than half the limit, evenly spread ones.
  void Singles() {
    const auto step = static_cast<std::uint32_t>(4 * nodes() / limit_ + 1);
    for (std::uint32_t node = step - 1; node < nodes(); node += step) Add(Without({node}));
    for (std::uint32_t node = step - 1; node < nodes(); node += step) {
      Choice choice = window_.None();
      choice.kept[node] = true;
      window_.CloseDown(choice);
      Add(std::move(choice));
    }
  }

  void Pairs() {
    for (std::uint32_t a = 0; a < nodes() && !full(); ++a) {
      for (std::uint32_t b = a + 1; b < nodes() && !full(); ++b) Add(Without({a, b}));
    }
  }

  // Every node torn at its cuts, once with as much as possible kept and once with as little.
  void Tears(std::uint64_t share) {
    if (window_.tear() != Tear::kByte || nodes() == 0) return;
    const std::uint64_t per_node = std::max<std::uint64_t>(8, share / nodes());
    for (std::uint32_t node = 0; node < nodes(); ++node) {
      const auto cuts = window_.TearCuts(node);
      const std::uint64_t step = cuts.size() / per_node + 1;
      for (std::size_t i = 0; i < cuts.size(); i += step) {
        for (Choice choice : {Without({node}), Before(node)}) {
          choice.torn.push_back({node, cuts[i]});
          AddTorn(std::move(choice));
        }
      }
    }
  }

  void Samples(std::uint64_t seed, std::uint64_t count) {
    Rng rng(seed);
    for (std::uint64_t i = 0; i < count; ++i) Add(window_.Random(rng));
  }

  // Samples of which only torn ones are new: the others have all been tried.
  void TornSamples(std::uint64_t seed, std::uint64_t count) {
    Rng rng(seed);
    for (std::uint64_t i = 0; i < count; ++i) {
      Choice choice = window_.Random(rng);
      if (!choice.torn.empty()) AddTorn(std::move(choice));
    }
  }

  ChoiceSet Take(bool complete) {
    set_.complete = complete;
    return std::move(set_);
  }

 private:
  [[nodiscard]] std::uint32_t nodes() const {
    return static_cast<std::uint32_t>(window_.nodes().size());
  }
  [[nodiscard]] Choice Without(std::initializer_list<std::uint32_t> lost) const {
    Choice choice = window_.All();
    for (const std::uint32_t node : lost) choice.kept[node] = false;
    window_.CloseUp(choice);
    return choice;
  }
  // Only what `node` requires.
  [[nodiscard]] Choice Before(std::uint32_t node) const {
    Choice choice = window_.None();
    choice.kept[node] = true;
    window_.CloseDown(choice);
    choice.kept[node] = false;
    return choice;
  }
  // Tears come beside the limit: they have their own share.
  void AddTorn(Choice choice) {
    if (seen_.insert(window_.Token(choice)).second) set_.choices.push_back(std::move(choice));
  }

  const Window& window_;
  std::uint64_t limit_;
  std::set<std::string> seen_;
  ChoiceSet set_;
};

}  // namespace

ChoiceSet Choose(const Window& window, Strategy strategy, std::uint64_t limit, std::uint64_t seed) {
  Chooser chooser(window, limit);
  if (strategy == Strategy::kSystematic && window.Count(limit)) {
    for (Choice& choice : window.Enumerate(limit)) chooser.Add(std::move(choice));
    const bool tears = window.tear() == Tear::kByte && !window.nodes().empty();
    if (tears) {
      chooser.Tears(limit);
      chooser.TornSamples(seed, limit);
    }
    // Tears in every combination are never tried all.
    return chooser.Take(!tears);
  }
  chooser.Add(window.None());
  chooser.Add(window.All());
  if (strategy == Strategy::kSystematic) {
    chooser.Singles();
    chooser.Tears(limit);
    chooser.Samples(seed, limit / 4);
    chooser.Pairs();
  }
  chooser.Samples(seed + 1, limit);
  return chooser.Take(false);
}

}  // namespace tornfs::harness
