// How windows and choices are written: for people, and as tokens.
#include <charconv>

#include "fusefs/core/window.h"

namespace tornfs {
namespace {

std::string Number(std::uint64_t value) { return std::to_string(value); }

tl::unexpected<Error> BadToken(std::string_view token) {
  return Fail(ErrorCode::kInvalid, "not a choice of this window: '" + std::string(token) + "'");
}

// Takes a number off the front of `text`.
bool TakeNumber(std::string_view& text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool TakeChar(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string Window::DescribeBytes(std::uint32_t first, std::uint32_t last) const {
  const Part& begin = nodes_[first].parts.front();
  const Part& end = nodes_[last].parts.front();
  return "bytes " + Number(begin.begin) + ".." + Number(end.end) + " of " +
         all_.PathOf(effects()[begin.effect].ino);
}

bool Window::GoesOn(std::uint32_t node) const {
  if (node + 1 >= nodes_.size()) return false;
  const std::vector<Part>& parts = nodes_[node].parts;
  const std::vector<Part>& next = nodes_[node + 1].parts;
  if (parts.size() != 1 || next.size() != 1) return false;
  const auto is_data = [&](const Part& part) {
    return part.kind == PartKind::kMade && effects()[part.effect].kind == CellKind::kData;
  };
  return is_data(parts[0]) && is_data(next[0]) && nodes_[node].op == nodes_[node + 1].op &&
         effects()[parts[0].effect].ino == effects()[next[0].effect].ino &&
         parts[0].end == next[0].begin;
}

std::string Window::Describe(std::uint32_t index) const {
  const Node& node = nodes_[index];
  const Part& part = node.parts.front();
  const Effect& effect = effects()[part.effect];
  const std::string path = all_.PathOf(effect.ino);
  if (part.kind == PartKind::kStale) {
    return "old contents of the disk in bytes " + Number(part.begin) + ".." + Number(part.end) +
           " of " + all_.PathOf(part.ino);
  }
  if (part.kind == PartKind::kSizeStep) return "size " + Number(part.end) + " of " + path;
  switch (effect.kind) {
    case CellKind::kData: return DescribeBytes(index, index);
    case CellKind::kSize: return "size " + Number(effect.value) + " of " + path;
    case CellKind::kMode: return "mode of " + path;
    case CellKind::kUid: return "owner of " + path;
    case CellKind::kGid: return "group of " + path;
    case CellKind::kXattr:
      return "attribute " + std::string(XattrChange::Of(*effect.name).name) + " of " + path;
    case CellKind::kFlags: return "flags of " + path;
    case CellKind::kEntry: break;
  }
  const auto name_of = [&](const Effect& entry) {
    const std::string dir = all_.PathOf(entry.ino);
    return dir.empty() ? *entry.name : dir + "/" + *entry.name;
  };
  if (effect.group != GroupTag::kRename || node.parts.size() < 2) {
    const bool removed = effect.child == kNoIno || part.kind == PartKind::kRemoval;
    return (removed ? "removal of " : "name ") + name_of(effect);
  }
  return "rename " + name_of(effect) + " -> " + name_of(effects()[node.parts.back().effect]);
}

// "nodes:lost,lost-lost;torn@bytes;torn@bytes"
std::string Window::Token(const Choice& choice) const {
  std::string token = Number(nodes_.size()) + ":";
  bool first = true;
  for (std::size_t i = 0; i < choice.kept.size(); ++i) {
    if (choice.kept[i]) continue;
    std::size_t last = i;
    while (last + 1 < choice.kept.size() && !choice.kept[last + 1]) ++last;
    if (!first) token += ",";
    first = false;
    token += Number(i);
    if (last > i) token += "-" + Number(last);
    i = last;
  }
  for (const Choice::Torn& torn : choice.torn) {
    token += ";" + Number(torn.node) + "@" + Number(torn.bytes);
  }
  return token;
}

Result<Choice> Window::ChoiceOf(std::string_view token) const {
  std::string_view text = token;
  std::uint64_t nodes = 0;
  if (!TakeNumber(text, nodes) || !TakeChar(text, ':') || nodes != nodes_.size()) {
    return BadToken(token);
  }
  Choice choice = All();
  while (!text.empty() && text.front() != ';') {
    std::uint64_t first = 0;
    if (!TakeNumber(text, first)) return BadToken(token);
    std::uint64_t last = first;
    if (TakeChar(text, '-') && !TakeNumber(text, last)) return BadToken(token);
    if (last < first || last >= nodes) return BadToken(token);
    for (std::uint64_t i = first; i <= last; ++i) choice.kept[i] = false;
    const bool more = TakeChar(text, ',');
    const bool ended = text.empty() || text.front() == ';';
    if (more == ended) return BadToken(token);
  }
  while (TakeChar(text, ';')) {
    Choice::Torn torn{};
    std::uint64_t node = 0;
    if (!TakeNumber(text, node) || !TakeChar(text, '@') || !TakeNumber(text, torn.bytes) ||
        node >= nodes) {
      return BadToken(token);
    }
    torn.node = static_cast<std::uint32_t>(node);
    choice.torn.push_back(torn);
  }
  if (!text.empty() || !Legal(choice)) return BadToken(token);
  return choice;
}

}  // namespace tornfs
