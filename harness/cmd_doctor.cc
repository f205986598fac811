// tornfs doctor: what this machine offers.
#include <unistd.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/commands.h"
#include "harness/kill_cgroup.h"
#include "harness/live/machine.h"
#include "harness/sandbox.h"
#include "harness/syscall_watch.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
using Json = nlohmann::json;

class Findings {
 public:
  explicit Findings(bool json) : json_(json) {}
  void Add(const char* name, bool good, const std::string& text) {
    if (json_) {
      out_[name] = {{"ok", good}, {"text", text}};
    } else {
      std::printf("%-14s %-4s %s\n", name, good ? "yes" : "no", text.c_str());
    }
  }
  void Print() const {
    if (json_) std::puts(out_.dump().c_str());
  }

 private:
  bool json_;
  Json out_ = Json::object();
};

void LookAtCgroup(Findings& findings) {
  const auto cgroup = KillCgroup::Create();
  if (cgroup) cgroup->Remove();
  findings.Add("cgroup2", cgroup.has_value(),
               cgroup ? "programs are killed by cgroup.kill"
                      : "programs are found through /proc and killed one by one");
}

void LookAtKernel(Findings& findings) {
  const auto [major, minor] = KernelVersion();
  const std::string version = std::to_string(major) + "." + std::to_string(minor);
  const bool epochs = HasKernelEpochs();
  findings.Add("epochs", epochs,
               "kernel " + version +
                   (epochs ? ": drops all names of a mount at once"
                           : ": names are dropped one by one (6.16 is better)"));
}

void DescribeDoctor(po::options_description&, std::vector<Positional>&) {}

int RunDoctor(const ParsedCommand& parsed) {
  Findings findings(parsed.json);
  const Status fuse = CheckFuse();
  findings.Add("fuse", fuse.has_value(), fuse ? "/dev/fuse can be used" : fuse.error().Message());
  const std::string fusermount = FindFusermount();
  findings.Add("fusermount3", !fusermount.empty(),
               fusermount.empty() ? "not found: only root can mount" : fusermount);
  const bool root = ::geteuid() == 0;
  findings.Add("root", root, root ? "private mounts, --user" : "mounts go through fusermount3");
  LookAtCgroup(findings);
  LookAtKernel(findings);
  const bool syncs = CanWatchSyscalls();
  findings.Add("sync", syncs,
               std::string("sync(2) and syncfs(2) in `run` and `explore` are ") +
                   (syncs ? "seen, by seccomp" : "not seen: that needs root and seccomp") +
                   "; on a `mount` they never are, use `tornfs sync`");
  // The last one: it moves this process.
  const Status spaces = EnterPrivateNamespaces();
  findings.Add("namespaces", spaces.has_value(),
               spaces ? "`run` hides its mount and its processes from the machine"
                      : spaces.error().Message());
  findings.Print();
  return fuse ? kExitOk : kExitMissing;
}

}  // namespace

extern const Command kDoctorCommand{
    "doctor",
    "show what this machine offers",
    "",
    "One line per finding: what, whether it is there, and what that means. Exits with 77 if\n"
    "nothing can be mounted here.",
    TakesChild::kNone,
    DescribeDoctor,
    RunDoctor,
};

}  // namespace tornfs::harness
