// Supervisor tests run in a child process of their own, because they change namespaces, users and
// who reaps whom; and once for each way in which programs can be contained.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <iosfwd>
#include <string>

#include "harness/supervisor.h"

namespace tornfs::harness {

enum class Containment {
  kUnprivileged,  // Another user than root, no cgroup: the subreaper.
  kSubreaper,     // The same as whoever runs the test.
  kCgroup,
  kPrivate,  // Namespaces, no cgroup; root.
  kPrivateCgroup,
};
void PrintTo(Containment containment, std::ostream* out);

// Whether this machine and user can do it.
bool IsPossible(Containment containment);

// Options for it; and the private namespaces entered.
SandboxOptions Enter(Containment containment);

// Runs `body` in a child process, as nobody for kUnprivileged. The test fails if an expectation in
// the child does.
void RunIsolated(Containment containment, const std::function<void()>& body);

// Fixture: `Isolated([] { ... })` in every containment that is possible here.
class ContainmentTest : public testing::TestWithParam<Containment> {
 protected:
  void SetUp() override {
    if (!IsPossible(GetParam())) GTEST_SKIP() << "needs root, namespaces and a cgroup v2";
  }
  static void Isolated(const std::function<void(const SandboxOptions&)>& body) {
    RunIsolated(GetParam(), [&] { body(Enter(GetParam())); });
  }
};

#define INSTANTIATE_CONTAINMENTS(Fixture)                                                        \
  INSTANTIATE_TEST_SUITE_P(                                                                      \
      All, Fixture,                                                                              \
      testing::Values(Containment::kUnprivileged, Containment::kSubreaper, Containment::kCgroup, \
                      Containment::kPrivate, Containment::kPrivateCgroup),                       \
      testing::PrintToStringParamName())

// A request for `script` run by /bin/sh, in /, with PATH and nothing else in its environment.
SpawnRequest ShellRequest(const std::string& script);

// Spawns and waits. The report's number is 0 if something failed, which fails the test.
ExitReport SpawnAndWait(Supervisor* supervisor, const SpawnRequest& request);

}  // namespace tornfs::harness
