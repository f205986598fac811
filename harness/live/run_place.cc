#include "harness/live/run_place.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "harness/sandbox.h"
#include "harness/stale_mount.h"

namespace tornfs::harness {

Result<std::unique_ptr<RunPlace>> RunPlace::Prepare(const Options& options) {
  std::unique_ptr<RunPlace> place(new RunPlace);
  if (::geteuid() == 0) {
    const Status entered = EnterPrivateNamespaces();
    if (!entered && entered.error().code != ErrorCode::kMissing) {
      return tl::make_unexpected(entered.error());
    }
    place->private_ = entered.has_value();
  }
  if (auto chosen = place->Choose(options); !chosen) return tl::make_unexpected(chosen.error());
  SandboxOptions sandbox;
  sandbox.private_namespaces = place->private_;
  sandbox.pin_core = options.pin_core;
  sandbox.mount_point = place->mount_point_;
  sandbox.cleanup = place->Cleanup();
  auto supervisor = Supervisor::Start(sandbox);
  if (!supervisor) return tl::make_unexpected(supervisor.error());
  place->supervisor_ = std::move(*supervisor);
  return place;
}

RunPlace::~RunPlace() {
  supervisor_.reset();
  if (made_) (void)::rmdir(mount_point_.c_str());
}

Status RunPlace::Choose(const Options& options) {
  if (options.at.empty()) {
    std::string made = "/tmp/tornfs-run-XXXXXX";
    if (::mkdtemp(made.data()) == nullptr) return IoError(errno, made);
    mount_point_ = made;
    made_ = true;
    if (options.for_other_user && ::chmod(made.c_str(), 0755) != 0) return IoError(errno, made);
    return {};
  }
  // What is in a directory is covered for nobody but us when the mount is private.
  if (!private_) {
    if (Status cleaned = CleanStaleMount(options.at); !cleaned) return cleaned;
    if (Status fit = CheckMountPoint(options.at); !fit) return fit;
  }
  std::error_code error;
  mount_point_ = std::filesystem::canonical(options.at, error);
  if (error) return Fail(ErrorCode::kNotFound, options.at + ": does not exist");
  if (!std::filesystem::is_directory(mount_point_, error)) {
    return Fail(ErrorCode::kInvalid, options.at + ": not a directory");
  }
  return {};
}

std::vector<std::string> RunPlace::Cleanup() const {
  std::vector<std::string> words{"/bin/sh", "-c",
                                 made_ ? "dir=$1; shift; \"$@\"; rmdir \"$dir\"" : "shift; \"$@\"",
                                 "sh", mount_point_};
  for (std::string& word : DetachCommand(mount_point_)) words.push_back(std::move(word));
  return words;
}

}  // namespace tornfs::harness
