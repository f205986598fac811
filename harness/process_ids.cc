#include "harness/process_ids.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

namespace tornfs::harness {
namespace {

// Above those of the helper's threads.
constexpr std::string_view kLast = "100";

}  // namespace

ProcessIds ProcessIds::Open() {
  ProcessIds ids;
  if (auto last = OpenFile("/proc/sys/kernel/ns_last_pid", O_WRONLY)) ids.last_ = std::move(*last);
  return ids;
}

void ProcessIds::Restart() const {
  // Without the right to do so nothing is lost but equal ids.
  if (last_.valid()) (void)!::pwrite(last_.get(), kLast.data(), kLast.size(), 0);
}

}  // namespace tornfs::harness
