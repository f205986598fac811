// append_log: appends entries to one file, `log`, in the working directory.
//
//   append_log [OPTION]... ENTRIES    appends the entries 1 to ENTRIES, prints `ack N` for each
//   append_log check PROMISES         is every entry promised in that file still there, in order?
//
// Done right: create the file, fsync the directory; then for each entry write it, fsync the file,
// and only then say so. Each option leaves out one thing:
//   --no-sync             acknowledges without ever syncing the file
//   --no-directory-sync   the file's own name is never synced
//   --ack-before-sync     `ack N` is printed first and made true later
//
// An entry is a line with its number in front. What follows the last whole entry is taken for an
// append that was cut short. check prints one line and exits with 0 (good) or 1 (not).
#include <fcntl.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "workloads/files.h"

namespace {

using namespace workloads;

constexpr const char* kFile = "log";

struct Options {
  bool sync_file = true;
  bool sync_directory = true;
  bool ack_first = false;
};

// Longer than a sector, so that an entry can be torn.
std::string Entry(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return digits + " " + std::string(700, static_cast<char>('a' + number % 26)) + " " + digits +
         "\n";
}

void Append(std::uint64_t entries, const Options& options) {
  const int fd = Open(kFile, O_WRONLY | O_CREAT | O_APPEND);
  if (options.sync_directory) SyncDirectory();
  for (std::uint64_t number = 1; number <= entries; ++number) {
    Write(fd, Entry(number));
    if (options.ack_first) Promise("ack", number);
    if (options.sync_file) Sync(fd);
    if (!options.ack_first) Promise("ack", number);
  }
  Close(fd);
}

int Check(const std::string& promises) {
  const std::uint64_t promised = HighestPromise(promises, "ack");
  std::string content;
  const bool exists = Read(kFile, content);
  std::string_view rest = content;
  std::uint64_t found = 0;
  while (rest.starts_with(Entry(found + 1))) {
    ++found;
    rest.remove_prefix(Entry(found).size());
  }
  if (found >= promised) {
    std::printf("good: %s entries, %s promised\n", std::to_string(found).c_str(),
                std::to_string(promised).c_str());
    return 0;
  }
  if (exists) {
    std::printf("entry %s is not there, yet it was acknowledged\n",
                std::to_string(found + 1).c_str());
  } else {
    std::printf("the log is missing, yet entry %s was acknowledged\n",
                std::to_string(promised).c_str());
  }
  return 1;
}

int Usage() {
  std::fputs(
      "usage: append_log [--no-sync] [--no-directory-sync] [--ack-before-sync] ENTRIES\n"
      "       append_log check PROMISES\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::uint64_t entries = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "check" && argc == 3) return Check(argv[2]);
    if (word == "--no-sync") {
      options.sync_file = false;
    } else if (word == "--no-directory-sync") {
      options.sync_directory = false;
    } else if (word == "--ack-before-sync") {
      options.ack_first = true;
    } else if (entries == 0 && NumberOf(word) != 0) {
      entries = NumberOf(word);
    } else {
      return Usage();
    }
  }
  if (entries == 0) return Usage();
  Append(entries, options);
  return 0;
}
