#include "harness/device/filesystem.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/fd.h"

namespace tornfs::harness {
namespace {

// Small, so that replay has little to read; nothing discarded and nothing left for later, so that
// the fill shows wherever mkfs wrote nothing and no thread of the kernel writes behind our back.
const std::vector<std::string> kMakeExt4 = {
    "mkfs.ext4",
    "-q",
    "-F",
    "-b",
    "4096",
    "-U",
    "{id}",
    "-J",
    "size=4",
    "-E",
    "nodiscard,lazy_itable_init=0,lazy_journal_init=0,root_owner=0:0",
    "{device}",
    "{size}"};
const std::vector<std::string> kMakeXfs = {"mkfs.xfs",
                                           "-q",
                                           "-f",
                                           "-K",
                                           "-m",
                                           "uuid={id}",
                                           "--unsupported",
                                           "-d",
                                           "size={size},agcount=1",
                                           "-l",
                                           "size=6m",
                                           "{device}"};
const std::vector<std::string> kMakeBtrfs = {"mkfs.btrfs", "-q",     "-f",     "-K",   "-U",
                                             "{id}",       "-b",     "{size}", "-m",   "single",
                                             "-d",         "single", "-n",     "4096", "{device}"};

Filesystem Ext4(const char* name, const char* options) {
  return {name, "ext4", kMakeExt4, "16M", options, "", name, true, 0, 4096};
}

const std::vector<Filesystem>& Table() {
  static const std::vector<Filesystem> kTable{
      Ext4("ext4", ""),
      Ext4("ext4-nodelalloc", "nodelalloc"),
      Ext4("ext4-writeback", "data=writeback"),
      Ext4("ext4-journal", "data=journal"),
      Ext4("ext4-noauto", "noauto_da_alloc"),
      Ext4("ext4-diolock", "dioread_lock"),
      {"xfs", "xfs", kMakeXfs, "32m", "nouuid", "nouuid", "xfs", false, 0, 512},
      {"btrfs", "btrfs", kMakeBtrfs, "128M", "", "", "btrfs", true, 64 << 10, 68 << 10},
  };
  return kTable;
}

std::string Path(const std::string& program) {
  for (const char* folder : {"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/", "/usr/local/sbin/"}) {
    const std::string path = folder + program;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

}  // namespace

std::span<const Filesystem> Filesystems() { return Table(); }

Result<Filesystem> FindFilesystem(std::string_view text) {
  const std::size_t comma = text.find(',');
  const std::string_view name = text.substr(0, comma);
  const auto base = std::find_if(Table().begin(), Table().end(),
                                 [&](const Filesystem& one) { return one.name == name; });
  if (base == Table().end()) {
    std::string names;
    for (const Filesystem& one : Table()) names += " " + one.name;
    return Fail(ErrorCode::kInvalid, "no filesystem '" + std::string(name) + "'; there is" + names);
  }
  if (comma == std::string_view::npos) return *base;
  const std::string options(text.substr(comma + 1));
  for (const Filesystem& one : Table()) {
    if (one.type == base->name && one.options == options) return one;
  }
  Filesystem own = *base;
  own.name = text;
  own.options += (own.options.empty() ? "" : ",") + options;
  return own;
}

bool MountsCopies(const Filesystem& filesystem) {
  return filesystem.type != "btrfs" || ::access("/sys/fs/btrfs/features/temp_fsid", F_OK) == 0;
}

Status CheckLoopDevices() {
  if (::access("/dev/loop-control", R_OK | W_OK) == 0) return {};
  return Fail(ErrorCode::kMissing, "there are no loop devices (/dev/loop-control)");
}

Status CheckFilesystem(const Filesystem& filesystem) {
  if (Path(filesystem.mkfs[0]).empty()) {
    return Fail(ErrorCode::kMissing, filesystem.mkfs[0] + " is not installed");
  }
  auto known = ReadFile("/proc/filesystems");
  if (!known) return tl::make_unexpected(known.error());
  if (known->find("\t" + filesystem.type + "\n") == std::string::npos) {
    return Fail(ErrorCode::kMissing, "this kernel has no " + filesystem.type);
  }
  return {};
}

}  // namespace tornfs::harness
