// tornfs mount MNT: a mount that stays until it is unmounted.
#include <boost/program_options.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands.h"
#include "harness/control_client.h"
#include "harness/cpu.h"
#include "harness/failure.h"
#include "harness/lazyfs/front.h"
#include "harness/live/control_ops.h"
#include "harness/live/daemon.h"
#include "harness/live/fault_table.h"
#include "harness/live/machine.h"
#include "harness/live/mount_users.h"
#include "harness/live/signals.h"
#include "harness/mount_options.h"
#include "harness/stale_mount.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;

struct MountRequest {
  LiveMountOptions live;
  std::vector<FaultRule> faults;
  std::optional<lazyfs::Config> lazyfs;
  std::string control;
  int pin = -1;
};

void DescribeMount(po::options_description& options, std::vector<Positional>& positionals) {
  positionals.push_back({"MNT"});
  DescribeLiveMountOptions(options);
  options.add_options()("control", po::value<std::string>()->value_name("SOCK"),
                        "listen for commands there instead of at the default path");
  options.add_options()("lazyfs-config", po::value<std::string>()->value_name("FILE"),
                        "take FIFOs, faults and logging from a configuration file of LazyFS");
  options.add_options()("lazyfs-fifo", po::value<std::string>()->value_name("FIFO"),
                        "take commands as LazyFS does; overrules the file");
  options.add_options()("allow-other", "let other users use the mount");
  options.add_options()("foreground", "stay in the foreground");
  options.add_options()("pin", po::value<std::string>()->default_value("auto"),
                        "keep the daemon on one core: auto, a core, or none");
}

// Paths become absolute: the daemon stands elsewhere.
Status ReadLazyFs(const ParsedCommand& parsed, MountRequest& request) {
  if (parsed.options.count("lazyfs-config") != 0) {
    auto config = lazyfs::ReadConfig(parsed.options["lazyfs-config"].as<std::string>());
    if (!config) {
      return Fail(ErrorCode::kInvalid, "--lazyfs-config: " + config.error().Message());
    }
    request.lazyfs = std::move(*config);
  }
  if (parsed.options.count("lazyfs-fifo") != 0) {
    if (!request.lazyfs) request.lazyfs.emplace();
    request.lazyfs->fifo = parsed.options["lazyfs-fifo"].as<std::string>();
  }
  if (!request.lazyfs) return {};
  for (std::string* path :
       {&request.lazyfs->fifo, &request.lazyfs->completed, &request.lazyfs->logfile}) {
    if (!path->empty()) *path = AbsolutePath(*path);
  }
  if (parsed.options["model"].defaulted()) request.live.model = *FindModel("lazyfs");
  return {};
}

Result<MountRequest> ReadMountRequest(const ParsedCommand& parsed) {
  MountRequest request;
  auto live = ReadLiveMountOptions(parsed);
  if (!live) return tl::make_unexpected(live.error());
  request.live = std::move(*live);
  auto faults = ReadFaultOptions(parsed);
  if (!faults) return tl::make_unexpected(faults.error());
  request.faults = std::move(*faults);
  if (const Status read = ReadLazyFs(parsed, request); !read) {
    return tl::make_unexpected(read.error());
  }
  request.live.allow_other = parsed.options.count("allow-other") != 0;
  const std::string& mount = parsed.positionals.front();
  request.control = parsed.options.count("control") != 0
                        ? AbsolutePath(parsed.options["control"].as<std::string>())
                        : DefaultControlPath(mount);
  const auto pin = ParsePin(parsed.options["pin"].as<std::string>());
  if (!pin) return tl::make_unexpected(pin.error());
  request.pin = *pin;
  request.live.mount_point = AbsolutePath(mount);
  return request;
}

// Makes the mount point and the folder of the socket fit for use. Returns an exit code, 0 for good.
int Prepare(const ParsedCommand& parsed, MountRequest& request) {
  if (const Status fuse = CheckFuse(); !fuse) return ReportFailure(parsed, fuse.error());
  std::string& mount = request.live.mount_point;
  if (const Status cleaned = CleanStaleMount(mount); !cleaned) {
    return ReportFailure(parsed, cleaned.error());
  }
  if (const Status fit = CheckMountPoint(mount); !fit) {
    return ReportFailure(parsed, kExitUsage, fit.error().Message());
  }
  std::error_code ignored;
  mount = std::filesystem::canonical(mount, ignored);
  if (parsed.options.count("control") != 0) return kExitOk;
  const Status folder = MakeControlFolder(request.control);
  return folder ? kExitOk : ReportFailure(parsed, folder.error());
}

std::string Announcement(const MountRequest& request, bool json) {
  if (json) {
    const nlohmann::json out{
        {"mount", request.live.mount_point},
        {"model", request.live.model->name},
        {"control", request.control},
        {"pid", ::getpid()},
        {"core", request.pin >= 0 ? nlohmann::json(request.pin) : nlohmann::json()}};
    return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return "mounted " + request.live.mount_point + " (model " +
         std::string(request.live.model->name) + ", control " + request.control + ", pid " +
         std::to_string(::getpid()) +
         (request.pin >= 0 ? ", core " + std::to_string(request.pin) : "") + ")\n";
}

// Mounts and serves until the end. Errors: those of the parts.
Status Serve(const MountRequest& request, StartReport& report, bool json) {
  if (request.pin >= 0) {
    if (Status pinned = PinToCore(request.pin); !pinned) return pinned;
  }
  auto loop = EventLoop::Create();
  if (!loop) return tl::make_unexpected(loop.error());
  auto signals = StopSignals::Watch(**loop);
  if (!signals) return tl::make_unexpected(signals.error());
  auto control = ControlServer::Listen(**loop, request.control);
  if (!control) return tl::make_unexpected(control.error());
  auto mount = LiveMount::Mount(**loop, request.live);
  if (!mount) return tl::make_unexpected(mount.error());
  Server& server = (*mount)->server();
  MountUsers users(server);
  Crasher crasher(server, users);
  FaultTable faults(server);
  for (const FaultRule& rule : request.faults) faults.Add(rule);
  std::unique_ptr<lazyfs::Front> front;
  if (request.lazyfs) {
    auto opened = lazyfs::Front::Open({**loop, **mount, crasher, faults}, *request.lazyfs,
                                      request.live.import);
    if (!opened) return tl::make_unexpected(opened.error());
    front = std::move(*opened);
  }
  const ControlOps ops(**mount, crasher, faults, **control);
  report.Succeeded(Announcement(request, json));
  (*loop)->RunUntil(
      [&] { return (*signals)->received() != 0 || ops.umount_requested() || server.mount_died(); });
  server.Unmount();
  return {};
}

int RunMount(const ParsedCommand& parsed) {
  auto request = ReadMountRequest(parsed);
  if (!request) return UsageError(parsed, request.error().Message());
  if (const int exit = Prepare(parsed, *request); exit != kExitOk) return exit;
  const auto daemon = [&](StartReport& report) -> int {
    const Status served = Serve(*request, report, parsed.json);
    if (served) return kExitOk;
    const int exit = ExitOf(served.error().code);
    report.Failed(exit, parsed.name + ": " + served.error().Message() + "\n");
    return exit;
  };
  if (parsed.options.count("foreground") != 0) {
    StartReport report;
    return daemon(report);
  }
  const auto exit = RunInBackground(daemon);
  return exit ? *exit : ReportFailure(parsed, exit.error());
}

}  // namespace

extern const Command kMountCommand{
    "mount",
    "mount a filesystem that can lose power",
    "MNT [--import DIR] [--model M] [--control SOCK] [options]",
    "MNT is an empty directory; the mount of a daemon that died is removed first. Returns when\n"
    "the mount can be used, and prints one line: where, which model, the control socket and the\n"
    "daemon's pid. The daemon ends with `tornfs umount`, SIGTERM or SIGINT, and what was on the\n"
    "mount is gone then.\n"
    "The daemon stays on one core, which that line names. A program on the same one is answered "
    "up\n"
    "to six times faster: `taskset -c CORE PROGRAM`.\n"
    "Exits with 2 if MNT cannot be mounted on, with 3 if it failed for another reason.",
    TakesChild::kNone,
    DescribeMount,
    RunMount,
};

}  // namespace tornfs::harness
