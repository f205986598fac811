#include "harness/explore/out_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "harness/explore/campaign.h"

namespace tornfs::harness {
namespace {

namespace fs = std::filesystem;

// The trace last: it is what makes the others ours, should their removal be interrupted.
constexpr const char* kOurs[] = {"stats.json", "events.jsonl", "report.html", "report.json",
                                 "junit.xml",  "shard.json",   "findings",    "trace"};
constexpr std::string_view kTraceMagic = "TORNTRC";

bool IsFindingId(const std::string& name) {
  constexpr std::size_t kDigits = 12;
  return name.size() == 2 + kDigits && name.starts_with("f-") &&
         name.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
}

bool IsTrace(const fs::path& path) {
  auto file = OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  std::string start(kTraceMagic.size(), '\0');
  return file &&
         ::read(file->get(), start.data(), start.size()) == static_cast<ssize_t>(start.size()) &&
         start == kTraceMagic;
}

// The name of something in `directory` that no exploration left; empty if there is none. A trace
// proves the rest; without one there can be no more than an empty folder of findings: an
// exploration that was stopped while it recorded.
std::string ForeignEntry(const fs::path& directory, std::error_code& error) {
  const bool explored = IsTrace(directory / "trace");
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    const bool ours = std::ranges::find(kOurs, name) != std::end(kOurs);
    if (!ours || (!explored && name != "findings")) return name;
    if (name != "findings") continue;
    std::error_code not_a_folder;
    for (const auto& finding : fs::directory_iterator(entry.path(), not_a_folder)) {
      const std::string id = finding.path().filename();
      if (!explored || !IsFindingId(id)) return name + "/" + id;
    }
    if (not_a_folder) return name;
  }
  return "";
}

Result<Fd> Lock(const std::string& directory) {
  auto folder = OpenFile(directory, O_RDONLY | O_DIRECTORY);
  if (!folder) return folder;
  if (::flock(folder->get(), LOCK_EX | LOCK_NB) == 0) return folder;
  if (errno != EWOULDBLOCK) return IoError(errno, directory);
  return Fail(ErrorCode::kBusy,
              directory + " is in use by another exploration; name another with --out");
}

}  // namespace

Result<Fd> PrepareOut(const std::string& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_directory(directory, error)) {
    return Fail(ErrorCode::kInvalid, directory + ": not a directory");
  }
  if (auto made = MakeDirectories(directory); !made) return tl::make_unexpected(made.error());
  auto lock = Lock(directory);
  if (!lock) return lock;
  const std::string foreign = ForeignEntry(directory, error);
  if (error) return IoError(error.value(), directory);
  if (!foreign.empty()) {
    return Fail(ErrorCode::kInvalid, directory +
                                         " holds other things than an earlier exploration (" +
                                         foreign + "); name another with --out");
  }
  for (const char* name : kOurs) {
    fs::remove_all(fs::path(directory) / name, error);
    if (error) return IoError(error.value(), directory);
  }
  if (auto made = MakeDirectories(directory + "/findings"); !made) {
    return tl::make_unexpected(made.error());
  }
  return lock;
}

Result<std::string> FindFinding(const std::string& directory, const std::string& id) {
  std::error_code error;
  for (const std::string& path : {directory + "/findings/" + id, id}) {
    if (fs::exists(path + "/finding.json", error)) return path;
  }
  return Fail(ErrorCode::kNotFound, "there is no finding '" + id + "' in " + directory);
}

}  // namespace tornfs::harness
