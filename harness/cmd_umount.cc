// tornfs umount MNT
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/commands.h"
#include "harness/control_client.h"
#include "harness/failure.h"
#include "harness/mount_command.h"
#include "harness/stale_mount.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

constexpr std::chrono::seconds kPatience{10};

void DescribeUmount(po::options_description& options, std::vector<Positional>& positionals) {
  DescribeMountCommand(options, positionals);
}

// Asks the daemon, and waits until its process has ended.
Status UmountThroughDaemon(ControlClient& client) {
  const auto status = client.Call("status", Json::object(), kPatience);
  if (!status) return tl::make_unexpected(status.error());
  const Fd daemon(static_cast<int>(::syscall(SYS_pidfd_open, status->value("pid", 0), 0)));
  const auto done = client.Call("umount", Json::object(), kPatience);
  if (!done) return tl::make_unexpected(done.error());
  pollfd entry{daemon.get(), POLLIN, 0};
  const auto patience = std::chrono::milliseconds(kPatience).count();
  if (daemon.valid() && ::poll(&entry, 1, static_cast<int>(patience)) == 0) {
    return Fail(ErrorCode::kTimeout, "unmounted, but the daemon does not end");
  }
  return {};
}

int RunUmount(const ParsedCommand& parsed) {
  const std::string& mount = parsed.positionals.front();
  Status done;
  auto client = ControlClient::Connect(ControlPathOf(parsed), kPatience);
  if (client) {
    done = UmountThroughDaemon(*client);
  } else if (client.error().code == ErrorCode::kNotFound && IsStaleMount(mount)) {
    done = CleanStaleMount(mount);
  } else {
    done = tl::make_unexpected(client.error());
  }
  if (!done) return ReportFailure(parsed, done.error());
  if (parsed.json) std::puts("{}");
  return kExitOk;
}

}  // namespace

extern const Command kUmountCommand{
    "umount",
    "unmount and end the daemon",
    "MNT",
    "What was on the mount is gone; see `tornfs export`. Returns when the daemon has ended.\n"
    "Programs that still use the mount get ENOTCONN. The mount of a daemon that died is removed\n"
    "as well.\n\n" TORNFS_MOUNT_COMMAND_EXITS,
    TakesChild::kNone,
    DescribeUmount,
    RunUmount,
};

}  // namespace tornfs::harness
