// LitmusProgram: a few calls, and what each persistence model allows a crash to leave of them. The
// text format, one statement a line, `#` begins a comment:
//
//   row: L1                        of the table in docs/crash-models.md; optional
//   tear: page                     none, page (default), sector
//   crash: anywhere                anywhere (default): at any place; end: after the last call
//   setup                          steps made, then all durable
//     write f o*10
//   run                            the program
//     create t
//     write t n*10000
//     rename t f
//   observe f O=o*10 N=n*10000     what is looked at, and letters for what may be found there
//   allow xfs f2fs: O N E P        exactly these, under these models
//
// Steps:
//   create F | mkdir D | symlink TARGET F | link F NEW | unlink F | rmdir D | rename F NEW
//   write F TEXT [@OFFSET] [sync|dsync]     without an offset: append; with a flag: O_SYNC,
//   O_DSYNC;
//                                           a file that is not there is made first
//   store F TEXT @OFFSET                    into a shared mapping, written back page by page
//   truncate F SIZE | allocate F OFFSET LENGTH [keep] | punch F OFFSET LENGTH
//   setxattr F KEY VALUE
//   tmpfile F                               a file without a name (O_TMPFILE), F to later steps;
//   only
//                                           under run. `link F NEW` gives it one
//   chmod F MODE | copy F NEW | fsync F | fdatasync F | sync | close F (does nothing)
// TEXT is runs of one byte, `a*4096,0*10`; the character 0 is the byte NUL.
//
// What is found at a path has a letter: one that `observe` gives it (for a text, or for
// `mode:600`, or for `xattr:KEY`), or A absent, D directory, E empty, 0 NULs only, G with bytes
// from before, P anything else. Letters of several `observe` lines are put together in order: `ON`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "fusefs/core/model.h"

namespace tornfs::harness {

enum class LitmusCall : std::uint8_t {
  kCreate,
  kMkdir,
  kSymlink,
  kLink,
  kUnlink,
  kRmdir,
  kRename,
  kWrite,
  kStore,
  kTruncate,
  kAllocate,
  kPunch,
  kChmod,
  kCopy,
  kFsync,
  kFdatasync,
  kSync,
  kSetxattr,
  kTmpfile,
  kClose,
};

enum class WriteFlag : std::uint8_t { kNone, kSync, kDsync };

struct LitmusStep {
  LitmusCall call = LitmusCall::kClose;
  std::string path;
  std::string other;  // link, rename, copy: the new name. symlink: the target. setxattr: the key.
  std::string bytes;  // write, store; setxattr: the value.
  std::optional<std::uint64_t> offset;
  std::uint64_t number = 0;  // truncate: size; allocate, punch: length; chmod: mode.
  bool keep_size = false;
  WriteFlag flag = WriteFlag::kNone;
};

struct Observation {
  std::string path;
  std::vector<std::pair<std::string, std::string>>
      letters;  // Letter; bytes, "mode:600" or "xattr:KEY".
};

struct LitmusProgram {
  std::string name;
  std::string about;  // The comment at the top.
  std::string row;
  Tear tear = Tear::kPage;
  bool at_end = false;
  std::vector<LitmusStep> setup;
  std::vector<LitmusStep> run;
  std::vector<Observation> observations;
  std::map<std::string, std::set<std::string>> allowed;  // By model.
};

// Errors: kInvalid, with `name` and the line in the text.
[[nodiscard]] Result<LitmusProgram> ParseLitmus(std::string_view text, std::string_view name);

// "a*3,0*2" as bytes, and back: at most `kMaxBytes`.
inline constexpr std::uint64_t kMaxLitmusBytes = 1 << 20;
[[nodiscard]] std::optional<std::string> ParseRuns(std::string_view text);
[[nodiscard]] std::string ShowRuns(std::string_view bytes);

}  // namespace tornfs::harness
