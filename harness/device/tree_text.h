// A small tree as one line of text, which is what outcomes are compared by:
//
//   {d=D; d/l=F[o*4096] nl2; f=F[a*2500 0*1596] m600 xuser.k}
//
// Entries in the order of their paths. `D` a folder; `L[TARGET]` a symbolic link; `F[...]` a file
// with its runs of equal bytes: the byte as a character, 0 for NUL and ? for one that is no letter.
// nlN: has N names; mMODE: permissions other than 644 (755 for folders); xNAME: an extended
// attribute of users.
//
// Left out: kOtherFolder and what mkfs made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"

struct stat;

namespace tornfs::harness {

// One entry of a tree: its path below the top, and the folder and name by which to reach it.
struct TreeEntry {
  const std::string& path;
  int folder;
  const char* name;
  const struct stat& status;
};

// Calls `visit` for every entry below the directory `top`, each folder before what is in it.
// Errors: kIo, and those of `visit`.
[[nodiscard]] Status ForEachEntry(int top, const std::function<Status(const TreeEntry&)>& visit);

// One entry of the line, and the line they make.
struct NamedTreeEntry {
  std::string path;
  std::string text;
};
[[nodiscard]] std::string TreeText(std::vector<NamedTreeEntry> entries);
// "F[o*4096] nl2 m600".
[[nodiscard]] std::string FileText(std::span<const char> bytes, std::uint64_t links, unsigned mode);

// "o*4096 0*10".
[[nodiscard]] std::string RunsText(std::span<const char> bytes);

// Errors: kIo: what cannot be read is no outcome.
[[nodiscard]] Result<std::string> ReadTreeText(const std::string& directory);

}  // namespace tornfs::harness
