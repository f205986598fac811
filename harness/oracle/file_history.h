// FileHistory: a recording as seen from its files: which name led to which file when, and what each
// file held whenever its program left it alone.
//
// A file is taken to be at rest: at the start and the end of the recording, when it gets a name by
// rename(2) or link(2), when it is synced, and when a line is printed. In between, a file that was
// made or emptied is being written, and nobody expects its content to be there whole.
//
// A value once made. Threads: none. Cost: linear in the effects; contents are not copied.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fusefs/core/recording.h"

namespace tornfs::harness {

// A place in a directory that led to a regular file at some time, and was touched.
struct NameHistory {
  struct Occupant {
    OpNumber since = 0;           // Led there at every cut above; of the first: from the start.
    Ino ino = kNoIno;             // kNoIno: the name led nowhere.
    OpKind by = OpKind::kCreate;  // What the name came or went by. Not set for the first.
  };
  struct Version {
    OpNumber since = 0;                 // As in Occupant.
    std::shared_ptr<const Inode> file;  // Null: the name led nowhere.
  };
  std::string path;
  std::vector<Occupant> occupants;
  std::vector<Version> at_rest;   // Of the name; neighbours differ.
  std::vector<OpNumber> emptied;  // Ops that cut the file under this name to nothing.
  bool updated = false;  // Written to while at rest without having been emptied: a log, a database.
  bool usable = true;    // Always a file or nothing, in directories that kept their place.
};

struct FileOfHistory {
  struct Change {
    OpNumber op = 0;
    std::uint64_t begin = 0;  // The first byte that is not as it was; of a truncation, the new end.
  };
  bool made_here = false;                   // By the recording.
  std::vector<Change> changes;              // Of data and size.
  std::vector<OpNumber> syncs;              // fsync and fdatasync.
  std::vector<std::size_t> names;           // Indexes of NameHistory, in order of arrival.
  std::vector<std::uint32_t> effects;       // On its data, its size and the names that lead to it.
  std::vector<std::uint32_t> name_effects;  // Of them, those that gave it a name.
  OpNumber gone_at = kNever;  // The op that took its last name and put nothing in its place.
};

// A file that was changed or named between one line and the one before it.
struct PromisedFile {
  std::size_t promise = 0;  // Index into Recording::promises.
  Ino ino = kNoIno;
  std::shared_ptr<const Inode> file;  // As it was when the line was printed.
};

class FileHistory {
 public:
  explicit FileHistory(std::shared_ptr<const Recording> recording);

  [[nodiscard]] const Recording& recording() const { return *recording_; }
  [[nodiscard]] const std::vector<NameHistory>& names() const { return names_; }
  [[nodiscard]] const std::map<Ino, FileOfHistory>& files() const { return files_; }
  [[nodiscard]] const std::vector<PromisedFile>& promised() const { return promised_; }
  // The trees at both ends, as programs saw them.
  [[nodiscard]] const Tree& start() const { return start_; }
  [[nodiscard]] const Tree& end() const { return now_; }
  // Whether some barrier was made, and whether some file was synced.
  [[nodiscard]] bool has_barriers() const { return has_barriers_; }
  [[nodiscard]] bool syncs_files() const { return syncs_files_; }

  // Whether effects of `file` made before `cut` were not durable there: on its data and size, or
  // also on its names.
  [[nodiscard]] bool Unsynced(const FileOfHistory& file, OpNumber cut, bool names_too) const;

 private:
  struct Place {
    Ino directory;
    std::string name;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  void Walk();
  void Serve(const Op& op);
  // Returns the index of the name.
  std::size_t TakeEntry(const Op& op, const Effect& effect);
  void TakeContent(const Effect& effect);
  void LookAtTheStart(Ino ino);
  [[nodiscard]] std::size_t NameAt(Ino directory, const std::string& name);
  // The names under which `ino` is known now.
  [[nodiscard]] std::vector<std::size_t> NamesOf(Ino ino) const;
  void Rest(std::size_t name, OpNumber since);
  void RestAll(OpNumber since);
  void Promise(std::size_t index);
  void DropWhatMoved();

  std::shared_ptr<const Recording> recording_;
  Tree start_;
  Tree now_;
  std::vector<NameHistory> names_;
  std::vector<bool> being_written_;  // By name: what it leads to was made or emptied, and no rest.
  std::map<Place, std::size_t> places_;
  std::vector<Ino> directories_;  // By name.
  std::map<Ino, FileOfHistory> files_;
  std::vector<PromisedFile> promised_;
  std::set<std::size_t> stirred_;  // Names changed, or written under, since their last rest.
  std::set<Ino> changed_;          // Files, since the last promise.
  std::set<Ino> moved_;            // Directories.
  bool has_barriers_ = false;
  bool syncs_files_ = false;
};

}  // namespace tornfs::harness
