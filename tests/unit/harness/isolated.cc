#include "isolated.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <ostream>

#include "harness/kill_cgroup.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

constexpr uid_t kNobody = 65534;

bool BecomeNobody() {
  // Without the last call /proc/self would belong to root.
  return ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0 &&
         ::prctl(PR_SET_DUMPABLE, 1) == 0;
}

bool IsPrivate(Containment containment) {
  return containment == Containment::kPrivate || containment == Containment::kPrivateCgroup;
}

bool UsesCgroup(Containment containment) {
  return containment == Containment::kCgroup || containment == Containment::kPrivateCgroup;
}

// The exit status of a child that runs `body`.
int StatusOfChild(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    int status = 1;
    try {
      status = body();
    } catch (const std::exception& error) {  // Must not reach the test runner, which goes on.
      ADD_FAILURE() << error.what();
    }
    std::fflush(nullptr);
    ::_exit(status);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

}  // namespace

void PrintTo(Containment containment, std::ostream* out) {
  switch (containment) {
    case Containment::kUnprivileged: *out << "Unprivileged"; return;
    case Containment::kSubreaper: *out << "Subreaper"; return;
    case Containment::kCgroup: *out << "Cgroup"; return;
    case Containment::kPrivate: *out << "Private"; return;
    case Containment::kPrivateCgroup: *out << "PrivateCgroup"; return;
  }
}

bool IsPossible(Containment containment) {
  if (containment == Containment::kUnprivileged) return ::getuid() == 0;
  if (UsesCgroup(containment)) {
    const auto cgroup = KillCgroup::Create();
    if (!cgroup) return false;
    cgroup->Remove();
  }
  if (!IsPrivate(containment)) return true;
  return StatusOfChild([] { return EnterPrivateNamespaces() ? 0 : 1; }) == 0;
}

SandboxOptions Enter(Containment containment) {
  SandboxOptions options;
  options.private_namespaces = IsPrivate(containment);
  options.cgroup = UsesCgroup(containment);
  if (options.private_namespaces) {
    EXPECT_TRUE(EnterPrivateNamespaces());
  }
  return options;
}

void RunIsolated(Containment containment, const std::function<void()>& body) {
  const int status = StatusOfChild([&] {
    if (containment == Containment::kUnprivileged) {
      EXPECT_TRUE(BecomeNobody());
    }
    body();
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
}

SpawnRequest ShellRequest(const std::string& script) {
  SpawnRequest request;
  request.arguments = {"/bin/sh", "-c", script};
  request.environment = {"PATH=/usr/bin:/bin"};
  request.directory = "/";
  return request;
}

ExitReport SpawnAndWait(Supervisor* supervisor, const SpawnRequest& request) {
  const auto spawned = supervisor->Spawn(request);
  EXPECT_TRUE(spawned) << spawned.error().Message();
  if (!spawned) return {};
  auto report = supervisor->Wait();
  EXPECT_TRUE(report) << report.error().Message();
  if (!report) return {};
  EXPECT_EQ(report->spawn, *spawned);
  EXPECT_FALSE(supervisor->running());
  return *report;
}

}  // namespace tornfs::harness
