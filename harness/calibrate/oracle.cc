#include "harness/calibrate/oracle.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace tornfs::harness {
namespace {

using Run = std::pair<char, std::uint64_t>;

// "o*4096 0*10" as runs; nothing if it is no such text.
std::optional<std::vector<Run>> ParseRuns(std::string_view text) {
  std::vector<Run> runs;
  while (!text.empty()) {
    if (text.front() == ' ') text.remove_prefix(1);
    if (text.size() < 3 || text[1] != '*') return std::nullopt;
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), count);
    if (error != std::errc()) return std::nullopt;
    runs.emplace_back(text[0], count);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return runs;
}

bool MatchesRuns(std::string_view pattern, std::string_view text) {
  auto wanted = ParseRuns(pattern);
  auto found = ParseRuns(text);
  if (!wanted || !found) return pattern == text;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < wanted->size() && j < found->size()) {
    Run& want = (*wanted)[i];
    Run& have = (*found)[j];
    if (want.first != '?' && want.first != have.first) return false;
    const std::uint64_t both = std::min(want.second, have.second);
    want.second -= both;
    have.second -= both;
    i += want.second == 0 ? 1 : 0;
    j += have.second == 0 ? 1 : 0;
  }
  return i == wanted->size() && j == found->size();
}

}  // namespace

bool MatchesTree(std::string_view pattern, std::string_view tree) {
  if (pattern == tree) return true;
  if (pattern.find("?*") == std::string_view::npos) return false;
  while (true) {
    const std::size_t left = pattern.find('[');
    const std::size_t right = tree.find('[');
    if (pattern.substr(0, left) != tree.substr(0, right)) return false;
    if (left == std::string_view::npos) return true;
    pattern.remove_prefix(left + 1);
    tree.remove_prefix(right + 1);
    const std::size_t left_end = pattern.find(']');
    const std::size_t right_end = tree.find(']');
    if (left_end == std::string_view::npos || right_end == std::string_view::npos) return false;
    if (!MatchesRuns(pattern.substr(0, left_end), tree.substr(0, right_end))) return false;
    pattern.remove_prefix(left_end);
    tree.remove_prefix(right_end);
  }
}

std::size_t FindAllowed(const AllowedSet& allowed, std::string_view tree) {
  for (std::size_t i = 0; i < allowed.trees.size(); ++i) {
    if (MatchesTree(allowed.trees[i].tree, tree)) return i;
  }
  return SIZE_MAX;
}

bool MayLeave(const AllowedSet& allowed, std::string_view tree, std::size_t ended,
              std::size_t begun) {
  for (const AllowedTree& one : allowed.trees) {
    bool then = false;
    for (std::size_t cut = ended; cut <= begun && cut < one.cuts.size(); ++cut) {
      then = then || one.cuts[cut];
    }
    if (then && MatchesTree(one.tree, tree)) return true;
  }
  return false;
}

}  // namespace tornfs::harness
