#include "fusefs/core/window_index.h"

#include <algorithm>

namespace tornfs {

WindowIndex::WindowIndex(std::shared_ptr<const Window> window) : window_(std::move(window)) {
  const auto nodes = window_->nodes();
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    for (const Part& part : nodes[node].parts) AddPart(node, part);
  }
  IndexLinks();
}

void WindowIndex::AddPart(std::uint32_t node, const Part& part) {
  const Effect& effect = window_->effects()[part.effect];
  if (part.kind == PartKind::kStale) {
    AddPiece(part.ino, {part.begin, part.end, node});
    if (part.hidden_by != UINT32_MAX) AddPiece(part.ino, {part.begin, part.end, part.hidden_by});
    return;
  }
  switch (effect.kind) {
    case CellKind::kData: AddPiece(effect.ino, {part.begin, part.end, node}); break;
    case CellKind::kSize:
      sizes_[effect.ino].push_back(node);
      values_[effect.ino].push_back(node);
      break;
    case CellKind::kEntry: {
      const std::pair cell{effect.ino, *effect.name};
      entries_[cell].push_back(node);
      names_[effect.ino].push_back(node);
      if (effect.child != kNoIno) cells_of_[effect.child].insert(cell);
      const auto* before = window_->base().durable.FindEntry(effect.ino, *effect.name);
      if (before != nullptr) cells_of_[before->ino].insert(cell);
      break;
    }
    default:
      owners_[effect.ino].push_back(node);
      values_[effect.ino].push_back(node);
      break;
  }
}

void WindowIndex::AddPiece(Ino ino, const Piece& piece) {
  File& file = files_[ino];
  const std::uint64_t page = piece.begin / kPageBytes;
  const bool one_page = piece.begin < piece.end && (piece.end - 1) / kPageBytes == page;
  auto& pieces = one_page ? file.pages[page] : file.long_pieces;
  pieces.push_back(piece);
}

// A directory's link count goes with its subdirectories, and a name counts only while the directory
// it is in can be reached.
void WindowIndex::IndexLinks() {
  for (const auto& [ino, cells] : cells_of_) {
    std::set<Ino> seen;
    AddLinks(ino, ino, seen);
  }
  for (const auto& [dir, nodes] : names_) {
    Nodes& links = links_[dir];
    for (const std::uint32_t node : nodes) {
      const auto moves_directory = [&](const Part& part) {
        const Effect& effect = window_->effects()[part.effect];
        if (effect.kind != CellKind::kEntry || effect.ino != dir) return false;
        const auto is_directory = [&](Ino ino) {
          const Inode* inode = window_->base().durable.Find(ino);
          return inode != nullptr && inode->IsDirectory();
        };
        return std::ranges::any_of(cells_of_, [&](const auto& each) {
          return each.second.contains({dir, *effect.name}) && is_directory(each.first);
        });
      };
      if (std::ranges::any_of(window_->nodes()[node].parts, moves_directory)) {
        links.push_back(node);
      }
    }
  }
  for (auto& [ino, nodes] : links_) {
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
}

void WindowIndex::AddLinks(Ino ino, Ino of, std::set<Ino>& seen) {
  if (!seen.insert(of).second) return;
  const auto cells = cells_of_.find(of);
  if (cells == cells_of_.end()) return;
  Nodes& links = links_[ino];
  for (const auto& cell : cells->second) {
    const Nodes& nodes = entries_.at(cell);
    links.insert(links.end(), nodes.begin(), nodes.end());
    AddLinks(ino, cell.first, seen);
  }
}

// How far a search has to look for what could change its outcome.
std::uint64_t WindowIndex::Found(const Question& question, const Tree& tree) {
  const Inode& inode = *tree.Find(question.ino);
  const std::uint64_t found = question.kind == Question::Kind::kNextData
                                  ? inode.content.NextData(question.at)
                                  : inode.content.NextHole(question.at);
  return std::min(found, inode.size - std::min<std::uint64_t>(inode.size, 1)) + 1;
}

}  // namespace tornfs
