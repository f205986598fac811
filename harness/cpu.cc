#include "harness/cpu.h"

#include <sched.h>

#include <cerrno>
#include <string>

namespace tornfs::harness {

std::vector<int> AvailableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

Status PinToCore(int core) {
  const std::string what = "pin to core " + std::to_string(core);
  if (core < 0 || core >= CPU_SETSIZE) return IoError(EINVAL, what);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) return IoError(errno, what);
  return {};
}

}  // namespace tornfs::harness
