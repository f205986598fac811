#include "fusefs/fuse/special_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "fusefs/fuse/node_table.h"
#include "fusefs/fuse/server.h"

namespace tornfs {

std::optional<Ino> SpecialFiles::Find(Ino dir, std::string_view name) {
  if (dir != kRootIno || !name.starts_with(".tornfs-")) return std::nullopt;
  if (name == kStdoutName) return NodeTable::kStdoutIno;
  if (name == kPromisesName) return NodeTable::kPromisesIno;
  return std::nullopt;
}

struct stat SpecialFiles::Stat(Ino ino) const {
  if (ino == NodeTable::kPromisesIno) promises_were_read_ = true;  // Its size tells something too.
  struct stat out {};
  out.st_ino = ino;
  out.st_mode = S_IFREG | (ino == NodeTable::kStdoutIno ? 0666 : 0444);
  out.st_nlink = 1;
  out.st_uid = geteuid();
  out.st_gid = getegid();
  out.st_size = static_cast<off_t>(Content(ino).size());
  out.st_blksize = ino == NodeTable::kStdoutIno ? 1 : static_cast<blksize_t>(kPageBytes);
  return out;
}

std::string_view SpecialFiles::Content(Ino ino) const {
  return ino == NodeTable::kStdoutIno ? stdout_ : promises_;
}

Outcome<void> SpecialFiles::Open(Ino ino, int flags) {
  if (ino != NodeTable::kPromisesIno) return {};
  if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0) return Refuse(EACCES);
  promises_were_read_ = true;
  return {};
}

void SpecialFiles::Append(Engine& engine, std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  stdout_ += text;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    line_ += text.substr(0, end);
    engine.AddPromise(std::exchange(line_, {}));
    text.remove_prefix(end + 1);
  }
  line_ += text;
}

std::string SpecialFiles::TakeStdout() { return std::exchange(stdout_, {}); }

void SpecialFiles::SetPromises(std::string text) {
  promises_ = std::move(text);
  promises_were_read_ = false;
}

}  // namespace tornfs
