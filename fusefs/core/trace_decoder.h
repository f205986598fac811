// RecordDecoder: the payloads of a trace's sections as a Recording. Checks every reference, so that
// a recording it gives out can be asked for any cut, like one that an engine made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fusefs/core/recording.h"
#include "fusefs/core/trace_bytes.h"

namespace tornfs::trace {

// Where a run of the trace's contents is in the store.
struct StoredRange {
  std::uint64_t place = 0;  // Among the contents of the trace.
  std::uint64_t length = 0;
  ContentPosition position = 0;
};

// True for a name that a directory entry can have.
[[nodiscard]] bool IsName(std::string_view name);

class RecordDecoder {
 public:
  // `contents` by rising place. The texts behind the readers must outlive the decoder.
  explicit RecordDecoder(std::vector<StoredRange> contents) : contents_(std::move(contents)) {}

  // To be called once each, in this order, until one fails (ByteReader::ok). Each takes the whole
  // payload of its section; the caller checks that nothing is left.
  void Strings(ByteReader& in);
  void Base(ByteReader& in);
  void Ops(ByteReader& in);
  void Births(ByteReader& in);
  void Effects(ByteReader& in);
  void Promises(ByteReader& in);
  void Durable(ByteReader& in);
  [[nodiscard]] Recording Take() { return std::move(recording_); }

 private:
  // What is known of an inode over the whole recording.
  struct Life {
    mode_t type = 0;
    OpNumber born = 0;          // The op; 0 for the inodes of the start.
    OpNumber gone = kNever;     // The first snapshot without it.
    std::uint64_t entries = 0;  // Entries that lead to it in the tree being read.
  };
  struct NewEntry {
    Ino dir;
    EntryKey key;
    Ino child;
  };

  [[nodiscard]] std::string TakeString(ByteReader& in);
  // A string that can be a file name.
  [[nodiscard]] std::string TakeName(ByteReader& in);
  [[nodiscard]] std::shared_ptr<const std::string> TakeSharedName(ByteReader& in);
  [[nodiscard]] std::uint64_t TakeStringIndex(ByteReader& in);
  [[nodiscard]] static Nanoseconds TakeTime(ByteReader& in, Nanoseconds since);
  [[nodiscard]] ContentPosition TakePlace(ByteReader& in, std::uint64_t place,
                                          std::uint64_t length) const;
  // `from` plus a difference; above `limit` is a failure.
  [[nodiscard]] static OpNumber TakeRise(ByteReader& in, OpNumber from, OpNumber limit);
  [[nodiscard]] Ino TakeIno(ByteReader& in, Ino limit);

  void TakeInode(ByteReader& in, unsigned fields, Ino ino, Inode& inode);
  [[nodiscard]] std::string TakeXattr(ByteReader& in);
  void TakeMore(ByteReader& in, Inode& inode);
  void TakeFields(ByteReader& in, unsigned fields, Inode& inode);
  void TakeExtents(ByteReader& in, ExtentMap& content) const;
  void TakeEntries(ByteReader& in, Ino dir);
  void PlaceEntries(ByteReader& in, Tree& tree);
  void CheckAcyclic(ByteReader& in) const;

  void TakeEffect(ByteReader& in, Effect& effect);
  void TakeData(ByteReader& in, Effect& effect);
  void TieEffectsToOps(ByteReader& in);
  void TakeSnapshot(ByteReader& in, Tree& tree, OpNumber cut);
  void RemoveInodes(ByteReader& in, Tree& tree, const std::vector<Ino>& gone, OpNumber cut);
  void CheckLives(ByteReader& in) const;
  [[nodiscard]] bool Lives(Ino ino, const Effect& effect, OpNumber durable_by) const;

  std::vector<StoredRange> contents_;
  std::vector<std::string_view> strings_;
  std::vector<std::shared_ptr<const std::string>> names_;  // Of strings_, where used by an effect.
  std::vector<bool> used_;                                 // Long strings that were taken.
  Recording recording_;
  std::uint64_t pending_ = 0;  // Effects that belong to the start.
  std::unordered_map<Ino, Life> lives_;
  std::vector<NewEntry> new_entries_;  // Placed when all inodes are there.
  Ino last_ino_ = kNoIno;
};

}  // namespace tornfs::trace
