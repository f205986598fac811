// WindowIndex: which nodes of a window can change the answer to a question.
//
// Threads: none; a value once made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fusefs/core/question.h"
#include "fusefs/core/window.h"

namespace tornfs {

class WindowIndex {
 public:
  // Cost: linear in the parts of the window's nodes.
  explicit WindowIndex(std::shared_ptr<const Window> window);

  [[nodiscard]] const Window& window() const { return *window_; }

  // The first node for which `open` answers true and on which the answer to `question` may depend;
  // `tree` is what the nodes decided so far have made. Looking on where the answer lies: for a
  // lookup first at the name, then at what it leads to in `tree`; for SEEK_DATA at pages in rising
  // order, up to the first data that `tree` has. Empty when the answer is settled.
  template <class Open>
  [[nodiscard]] std::optional<std::uint32_t> Next(const Question& question, const Tree& tree,
                                                  Open&& open) const {
    const auto first = [&](const Nodes* nodes) -> std::optional<std::uint32_t> {
      if (nodes == nullptr) return std::nullopt;
      for (const std::uint32_t node : *nodes) {
        if (open(node)) return node;
      }
      return std::nullopt;
    };
    using Kind = Question::Kind;
    switch (question.kind) {
      case Kind::kName: return first(Entry(question.ino, question.name));
      case Kind::kLookup: {
        if (auto node = first(Entry(question.ino, question.name))) return node;
        const Entry_* entry = tree.FindEntry(question.ino, question.name);
        if (entry == nullptr) return std::nullopt;
        if (auto node = first(Find(values_, entry->ino))) return node;
        return first(Find(links_, entry->ino));
      }
      case Kind::kAttributes:
        if (auto node = first(Find(values_, question.ino))) return node;
        return first(Find(links_, question.ino));
      case Kind::kXattrs:
      case Kind::kOwner: return first(Find(owners_, question.ino));
      case Kind::kSize: return first(Find(sizes_, question.ino));
      case Kind::kNames:
        if (auto node = first(Find(names_, question.ino))) return node;
        return first(Find(links_, question.ino));
      case Kind::kPage:
        return NextData(question.ino, question.at * kPageBytes, (question.at + 1) * kPageBytes,
                        open);
      case Kind::kNextData:
      case Kind::kNextHole: return NextData(question.ino, question.at, Found(question, tree), open);
      case Kind::kTarget:
      case Kind::kNextIno:
      case Kind::kPromises: return std::nullopt;
    }
    return std::nullopt;
  }

  // The first open node that writes data of `ino` in [begin, end).
  template <class Open>
  [[nodiscard]] std::optional<std::uint32_t> NextData(Ino ino, std::uint64_t begin,
                                                      std::uint64_t end, Open&& open) const {
    if (const auto file = files_.find(ino); file != files_.end()) {
      for (const Piece& piece : file->second.long_pieces) {
        if (piece.begin < end && begin < piece.end && open(piece.node)) return piece.node;
      }
      const auto& pages = file->second.pages;
      const std::uint64_t past = end / kPageBytes + (end % kPageBytes != 0 ? 1 : 0);
      for (auto page = pages.lower_bound(begin / kPageBytes);
           page != pages.end() && page->first < past; ++page) {
        for (const Piece& piece : page->second) {
          if (piece.begin < end && begin < piece.end && open(piece.node)) return piece.node;
        }
      }
    }
    return std::nullopt;
  }

 private:
  using Nodes = std::vector<std::uint32_t>;
  using Entry_ = tornfs::Entry;
  struct Piece {
    std::uint64_t begin, end;
    std::uint32_t node;
  };
  struct File {
    std::map<std::uint64_t, std::vector<Piece>> pages;
    std::vector<Piece> long_pieces;  // Of more than one page.
  };

  template <class Map>
  [[nodiscard]] static const Nodes* Find(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Nodes* Entry(Ino dir, const std::string& name) const {
    return Find(entries_, {dir, name});
  }
  [[nodiscard]] static std::uint64_t Found(const Question& question, const Tree& tree);
  void AddPart(std::uint32_t node, const Part& part);
  void AddPiece(Ino ino, const Piece& piece);
  void IndexLinks();
  void AddLinks(Ino ino, Ino of, std::set<Ino>& seen);

  std::shared_ptr<const Window> window_;
  std::map<std::pair<Ino, std::string>, Nodes> entries_;
  std::map<Ino, Nodes> names_;   // By directory.
  std::map<Ino, Nodes> values_;  // Size, mode, owner, attributes.
  std::map<Ino, Nodes> owners_;  // Of them, all but the size.
  std::map<Ino, Nodes> sizes_;
  // Nodes that give or take a name of an inode, or of a directory that a name of it is in: its link
  // count, and for a directory its parent and the number of its subdirectories.
  std::map<Ino, Nodes> links_;
  std::map<Ino, std::set<std::pair<Ino, std::string>>>
      cells_of_;  // Cells that may lead to an inode.
  std::map<Ino, File> files_;
};

}  // namespace tornfs
