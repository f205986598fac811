#include "harness/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "common/fd.h"
#include "common/units.h"

namespace tornfs::harness {
namespace {

struct ProcessState {
  pid_t parent;
  bool zombie;
};

// "pid (name) state ppid ..."; the name may hold anything, so the last ')' ends it.
std::optional<ProcessState> ReadProcess(pid_t pid) {
  auto text = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= text->size()) return std::nullopt;
  const char state = (*text)[name_end + 2];
  const auto parent = static_cast<pid_t>(std::strtol(text->c_str() + name_end + 4, nullptr, 10));
  return ProcessState{parent, state == 'Z' || state == 'X'};
}

using ProcessTable = std::unordered_map<pid_t, ProcessState>;

ProcessTable ReadProcesses() {
  ProcessTable table;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
  if (directory == nullptr) return table;
  while (const dirent* entry = ::readdir(directory.get())) {
    const auto pid = ParseNumber(entry->d_name);
    if (!pid) continue;
    if (auto state = ReadProcess(static_cast<pid_t>(*pid))) {
      table.emplace(static_cast<pid_t>(*pid), *state);
    }
  }
  return table;
}

// Whether the chain of parents of `pid` leads to `ancestor`. A parent that left while the table was
// read breaks the chain; its child has a new parent by then, so it is asked again.
bool IsBelow(pid_t pid, pid_t ancestor, ProcessTable* table) {
  bool asked_again = false;
  for (std::size_t steps = 0; steps <= table->size(); ++steps) {
    const auto entry = table->find(pid);
    if (entry == table->end()) return false;
    const pid_t parent = entry->second.parent;
    if (parent == ancestor) return true;
    if (parent == 0) return false;
    if (table->contains(parent)) {
      pid = parent;
      asked_again = false;
      continue;
    }
    if (asked_again) return false;
    asked_again = true;
    const auto now = ReadProcess(pid);
    if (!now) return false;
    entry->second = *now;
  }
  return false;
}

}  // namespace

void KillDescendants() {
  const pid_t self = ::getpid();
  std::unordered_set<pid_t> signalled;
  for (bool found = true; found;) {
    found = false;
    ProcessTable table = ReadProcesses();
    for (const auto& [pid, state] : ProcessTable(table)) {
      if (state.zombie || signalled.contains(pid) || !IsBelow(pid, self, &table)) continue;
      ::kill(pid, SIGKILL);
      signalled.insert(pid);
      found = true;
    }
  }
}

}  // namespace tornfs::harness
