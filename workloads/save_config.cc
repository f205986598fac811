// save_config: keeps one file, `config`, in the working directory, and replaces it whole.
//
//   save_config [OPTION]... SAVES     saves the versions 1 to SAVES, prints `saved N` for each
//   save_config check PROMISES        is the last version promised in that file still there?
//
// A save, done right: write config.tmp, fsync it, rename it to config, fsync the directory, and
// only then say so. Each option leaves out one thing:
//   --no-file-sync        a file that was never synced is renamed over a good one
//   --no-directory-sync   the new name is never synced
//   --ack-before-sync     `saved N` is printed first and made true later
//
// check prints one line and exits with 0 (good) or 1 (not).
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "workloads/files.h"

namespace {

using namespace workloads;

constexpr const char* kFile = "config";
constexpr const char* kScratch = "config.tmp";

struct Options {
  bool sync_file = true;
  bool sync_directory = true;
  bool ack_first = false;
};

// A version is longer than a page, so that half of one can be told from a whole one.
std::string Version(std::uint64_t number) {
  std::string text = "version " + std::to_string(number) + "\n";
  for (int i = 0; i < 250; ++i) {
    text += "setting-" + std::to_string(i) + " = value " + std::to_string(number) + "\n";
  }
  return text;
}

void Save(std::uint64_t number, const Options& options) {
  const int fd = Open(kScratch, O_WRONLY | O_CREAT | O_TRUNC);
  Write(fd, Version(number));
  if (options.ack_first) Promise("saved", number);
  if (options.sync_file) Sync(fd);
  Close(fd);
  if (std::rename(kScratch, kFile) != 0) Die("rename");
  if (options.sync_directory) SyncDirectory();
  if (!options.ack_first) Promise("saved", number);
}

int Judge(bool good, const std::string& line) {
  std::printf("%s\n", line.c_str());
  return good ? 0 : 1;
}

int Check(const std::string& promises) {
  const std::uint64_t promised = HighestPromise(promises, "saved");
  const std::string yet = ", yet save " + std::to_string(promised) + " was promised";
  std::string content;
  if (!Read(kFile, content)) {
    if (promised == 0) return Judge(true, "good: nothing saved, nothing promised");
    return Judge(false, "config is missing" + yet);
  }
  std::uint64_t found = 0;
  const std::string_view head = "version ";
  if (content.starts_with(head)) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    found = NumberOf(std::string_view(content).substr(head.size(), end - head.size()));
  }
  if (found == 0 || content != Version(found)) {
    return Judge(false, "config is no version that was ever saved");
  }
  const std::string holds = "config holds save " + std::to_string(found);
  if (found < promised) return Judge(false, holds + yet);
  return Judge(true, "good: " + holds + ", promised was " + std::to_string(promised));
}

int Usage() {
  std::fputs(
      "usage: save_config [--no-file-sync] [--no-directory-sync] [--ack-before-sync] SAVES\n"
      "       save_config check PROMISES\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::uint64_t saves = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "check" && argc == 3) return Check(argv[2]);
    if (word == "--no-file-sync") {
      options.sync_file = false;
    } else if (word == "--no-directory-sync") {
      options.sync_directory = false;
    } else if (word == "--ack-before-sync") {
      options.ack_first = true;
    } else if (saves == 0 && NumberOf(word) != 0) {
      saves = NumberOf(word);
    } else {
      return Usage();
    }
  }
  if (saves == 0) return Usage();
  for (std::uint64_t number = 1; number <= saves; ++number) Save(number, options);
  return 0;
}
