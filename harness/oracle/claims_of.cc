#include "harness/oracle/claims_of.h"

#include <algorithm>
#include <set>
#include <string>

namespace tornfs::harness {
namespace {

std::string Quote(const std::string& path) { return "`" + path + "`"; }
std::string AtOp(OpNumber op) { return " at op " + std::to_string(op); }

bool CameByMoving(const NameHistory::Occupant& occupant) {
  return occupant.ino != kNoIno && (occupant.by == OpKind::kRename || occupant.by == OpKind::kLink);
}

// The contents that `name` had at rest at `since` and later.
std::vector<Accepted::Content> AtRest(const NameHistory& name, OpNumber since) {
  std::vector<Accepted::Content> contents;
  for (const NameHistory::Version& version : name.at_rest) {
    if (version.since >= since) contents.push_back({version.file, false});
  }
  return contents;
}

// --- replacement ---

// What of the history makes the claim on `name` worth making.
struct Suspicion {
  LintRule rule = LintRule::kRenamedUnsynced;
  std::string because;
};

Suspicion Suspect(const FileHistory& history, const NameHistory& name) {
  for (std::size_t i = 1; i < name.occupants.size(); ++i) {
    const NameHistory::Occupant& occupant = name.occupants[i];
    if (occupant.ino == kNoIno) {
      if (i + 1 == name.occupants.size()) break;
      return {LintRule::kRemovedUnsynced, Quote(name.path) + " was removed" + AtOp(occupant.since) +
                                              " before what replaces it was in its place"};
    }
    if (!CameByMoving(occupant)) continue;
    if (!history.Unsynced(history.files().at(occupant.ino), occupant.since, false)) continue;
    return {LintRule::kRenamedUnsynced, Quote(name.path) + " got its name" + AtOp(occupant.since) +
                                            " before its data was synced"};
  }
  if (!name.emptied.empty()) {
    return {LintRule::kRewrittenInPlace, Quote(name.path) + " was cut to nothing" +
                                             AtOp(name.emptied.front()) + " and written again"};
  }
  return {LintRule::kRenamedUnsynced, Quote(name.path) + " was replaced"};
}

// Where else the file that `name` led to at first was put.
std::vector<Accepted> Backups(const FileHistory& history, const NameHistory& name) {
  std::vector<Accepted> ways;
  const Ino first = name.occupants.front().ino;
  if (first == kNoIno) return ways;
  for (const std::size_t other : history.files().at(first).names) {
    if (&history.names()[other] == &name) continue;
    ways.push_back({history.names()[other].path, {{name.at_rest.front().file, false}}});
  }
  return ways;
}

// --- removal ---

std::string BaseOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string DirectoryOf(const std::string& path) {
  return path.find('/') == std::string::npos ? "" : path.substr(0, path.rfind('/'));
}
std::string StemOf(const std::string& base) {
  const std::size_t dot = base.rfind('.');
  return dot == std::string::npos || dot == 0 ? base : base.substr(0, dot);
}

// Names of one thing in two forms: x and x.gz, x.tgz and x.tar; or in two places.
bool SoundAlike(const std::string& a, const std::string& b) {
  if (BaseOf(a) == BaseOf(b)) return true;
  return DirectoryOf(a) == DirectoryOf(b) &&
         (StemOf(BaseOf(a)) == BaseOf(b) || StemOf(BaseOf(b)) == BaseOf(a) ||
          StemOf(BaseOf(a)) == StemOf(BaseOf(b)));
}

bool SameBytes(const Inode& a, const Inode& b, const ContentStore& store) {
  if (a.size != b.size) return false;
  std::vector<std::byte> bytes_a(kPageBytes);
  std::vector<std::byte> bytes_b(kPageBytes);
  for (std::uint64_t at = 0; at < a.size; at += kPageBytes) {
    const std::uint64_t length = std::min(kPageBytes, a.size - at);
    a.content.Read(store, at, std::span(bytes_a).first(length));
    b.content.Read(store, at, std::span(bytes_b).first(length));
    if (!std::equal(bytes_a.begin(), bytes_a.begin() + static_cast<std::ptrdiff_t>(length),
                    bytes_b.begin())) {
      return false;
    }
  }
  return true;
}

// --- promises ---

// The first op from `cut` on that changes what the file held then, or takes it away.
OpNumber SupersededAt(const FileOfHistory& file, OpNumber cut, std::uint64_t size) {
  OpNumber first = file.gone_at >= cut ? file.gone_at : kNever;
  for (const FileOfHistory::Change& change : file.changes) {
    if (change.op >= cut && change.begin < size) first = std::min(first, change.op);
  }
  return first;
}

// `content` under any name of `file`, or what replaced it there from `cut` on.
std::vector<Accepted> Somewhere(const FileHistory& history, Ino ino,
                                const std::shared_ptr<const Inode>& content, OpNumber cut) {
  std::vector<Accepted> ways;
  for (const std::size_t index : history.files().at(ino).names) {
    const NameHistory& name = history.names()[index];
    Accepted way{name.path, {{content, true}}};
    for (auto& later : AtRest(name, cut)) {
      if (later.file != nullptr) way.contents.push_back(std::move(later));
    }
    // The name that it has, or had last, is what a message is about.
    ways.insert(ways.begin(), std::move(way));
  }
  return ways;
}

bool HasUsableNames(const FileHistory& history, const FileOfHistory& file) {
  return !file.names.empty() && std::ranges::all_of(file.names, [&](std::size_t name) {
    return history.names()[name].usable;
  });
}

// Whether something is left at the end under one of the names of `file`.
bool LastsToTheEnd(const FileHistory& history, const FileOfHistory& file) {
  return std::ranges::any_of(file.names, [&](std::size_t name) {
    return history.names()[name].occupants.back().ino != kNoIno;
  });
}

// Files that the program itself treats as worth syncing, or names that such a file had: a program
// that syncs some files and never another says that it can do without that one.
bool IsSynced(const FileHistory& history, const FileOfHistory& file) {
  if (!history.syncs_files() || !file.syncs.empty()) return true;
  return std::ranges::any_of(file.names, [&](std::size_t name) {
    return std::ranges::any_of(history.names()[name].occupants, [&](const auto& occupant) {
      const auto other = history.files().find(occupant.ino);
      return other != history.files().end() && !other->second.syncs.empty();
    });
  });
}

}  // namespace

std::vector<Claim> ReplacementClaims(const FileHistory& history) {
  std::vector<Claim> claims;
  for (const NameHistory& name : history.names()) {
    const NameHistory::Occupant& first = name.occupants.front();
    if (!name.usable || name.updated || name.occupants.back().ino == kNoIno) continue;
    const auto versions = AtRest(name, 0);
    const auto real = std::ranges::count_if(
        versions, [](const auto& version) { return version.file != nullptr; });
    const bool moved_in = std::ranges::any_of(name.occupants, CameByMoving);
    if (!moved_in && real < 2) continue;
    Claim claim;
    claim.from = history.recording().start.next_op;
    // A file written under its own name is not whole before it was at rest for the first time.
    if (first.ino == kNoIno && !CameByMoving(name.occupants[1])) {
      const auto whole = std::ranges::find_if(
          name.at_rest, [](const auto& version) { return version.file != nullptr; });
      claim.from = whole->since;
    }
    Suspicion suspicion = Suspect(history, name);
    claim.rule = suspicion.rule;
    claim.because = std::move(suspicion.because);
    claim.demand = first.ino == kNoIno ? "neither absent nor whole" : "neither old nor new";
    claim.ways.push_back({name.path, versions});
    for (Accepted& backup : Backups(history, name)) claim.ways.push_back(std::move(backup));
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::vector<Claim> RemovalClaims(const FileHistory& history, const ContentStore& store) {
  std::vector<Claim> claims;
  for (const NameHistory& old : history.names()) {
    const auto& content = old.at_rest.front().file;
    const NameHistory::Occupant& last = old.occupants.back();
    if (!old.usable || content == nullptr || content->size == 0) continue;
    if (old.occupants.size() != 2 || last.ino != kNoIno || last.by != OpKind::kUnlink) continue;
    Claim claim;
    claim.rule = LintRule::kRemovedUnsynced;
    claim.from = history.recording().start.next_op;
    for (const NameHistory& name : history.names()) {
      const NameHistory::Occupant& made = name.occupants.back();
      if (!name.usable || made.ino == kNoIno || name.occupants.front().ino != kNoIno) continue;
      const FileOfHistory& file = history.files().at(made.ino);
      const bool before =
          file.made_here && !file.changes.empty() && file.changes.front().op < last.since;
      const auto& whole = name.at_rest.back().file;
      if (!before || whole == nullptr) continue;
      if (!SoundAlike(old.path, name.path) && !SameBytes(*content, *whole, store)) continue;
      if (claim.ways.empty()) {
        claim.demand = "and " + old.path + ", which it replaces, is gone";
        claim.because = Quote(old.path) + " was removed" + AtOp(last.since) + " before " +
                        Quote(name.path) + " was durable";
      }
      claim.ways.push_back({name.path, {{whole, false}}});
    }
    if (claim.ways.empty()) continue;
    Accepted kept{old.path, AtRest(old, 0)};
    std::erase_if(kept.contents, [](const auto& each) { return each.file == nullptr; });
    claim.ways.push_back(std::move(kept));
    claims.push_back(std::move(claim));
  }
  return claims;
}

bool TakesPromises(const FileHistory& history) {
  const Recording& recording = history.recording();
  if (recording.promises.empty()) return false;
  return history.has_barriers() || recording.promises.back().cut == recording.end();
}

std::size_t CountSettled(const FileHistory& history) {
  std::size_t settled = 0;
  if (TakesPromises(history)) {
    settled += static_cast<std::size_t>(
        std::ranges::count_if(history.promised(), [&](const PromisedFile& promised) {
          const FileOfHistory& file = history.files().at(promised.ino);
          const OpNumber cut = history.recording().promises[promised.promise].cut;
          return IsSynced(history, file) && !history.Unsynced(file, cut, true);
        }));
  }
  settled += static_cast<std::size_t>(std::ranges::count_if(history.files(), [&](const auto& each) {
    const FileOfHistory& file = each.second;
    return !file.syncs.empty() && !file.name_effects.empty() &&
           !history.Unsynced(file, history.recording().end(), true);
  }));
  return settled;
}

std::vector<Claim> PromiseClaims(const FileHistory& history) {
  std::vector<Claim> claims;
  for (const PromisedFile& promised : history.promised()) {
    const Promise& line = history.recording().promises[promised.promise];
    const FileOfHistory& file = history.files().at(promised.ino);
    if (!history.Unsynced(file, line.cut, true) || !HasUsableNames(history, file)) continue;
    if (!LastsToTheEnd(history, file) || !IsSynced(history, file)) continue;
    Claim claim;
    const bool data = history.Unsynced(file, line.cut, false);
    claim.rule = data ? LintRule::kPromisedUnsynced : LintRule::kPromisedUnnamed;
    claim.from = line.cut;
    claim.until = SupersededAt(file, line.cut, promised.file->size);
    claim.promises = promised.promise + 1;
    claim.ways = Somewhere(history, promised.ino, promised.file, line.cut);
    claim.demand = "although a line was printed after it was written";
    claim.because = "`" + line.line + "` was printed before " + Quote(claim.ways.front().path) +
                    (data ? " was synced" : "'s name was synced");
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::vector<Claim> NameClaims(const FileHistory& history) {
  std::vector<Claim> claims;
  const OpNumber end = history.recording().end();
  for (const auto& [ino, file] : history.files()) {
    if (file.syncs.empty() || file.name_effects.empty() || !HasUsableNames(history, file)) continue;
    const bool never = std::ranges::all_of(file.name_effects, [&](std::uint32_t effect) {
      return history.recording().durable_by[effect] == kNever;
    });
    const Inode* inode = history.end().Find(ino);
    if (!never || inode == nullptr || inode->links == 0) continue;
    if (history.Unsynced(file, end, false)) continue;
    Claim claim;
    claim.rule = LintRule::kSyncedUnnamed;
    claim.from = end;
    claim.ways = Somewhere(history, ino, std::make_shared<const Inode>(*inode), file.syncs.back());
    claim.demand = "although it was synced";
    claim.because = Quote(claim.ways.front().path) + " was synced" + AtOp(file.syncs.back()) +
                    ", and its directory never was";
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace tornfs::harness
