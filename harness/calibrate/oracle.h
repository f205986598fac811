// What a persistence model allows of a program, as the trees a crash may leave, and whether what
// was seen is among them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tornfs::harness {

// One outcome, in the words of tree_text.h. In file contents `?*N` stands for any N bytes: what a
// model that shows stale blocks says of them.
struct AllowedTree {
  std::string tree;
  std::string rule;  // The rules that allow it, with their tags; empty if not asked for.
  // By n: whether a crash may leave it when n main steps have returned and no other has begun.
  std::vector<bool> cuts;
};

// All a model allows of one program; `known` is false if the model cannot express the program.
struct AllowedSet {
  bool known = false;
  std::vector<AllowedTree> trees;
};

// Index of the first outcome that `tree` is, or SIZE_MAX.
[[nodiscard]] std::size_t FindAllowed(const AllowedSet& allowed, std::string_view tree);

// Whether a crash may leave `tree` when `ended` main steps have returned and `begun` have begun:
// a step in between may count as made or not.
[[nodiscard]] bool MayLeave(const AllowedSet& allowed, std::string_view tree, std::size_t ended,
                            std::size_t begun);

// Whether `tree` is what `pattern` describes.
[[nodiscard]] bool MatchesTree(std::string_view pattern, std::string_view tree);

}  // namespace tornfs::harness
