// Killing everything below a process by looking at /proc: what remains when there is neither a PID
// namespace nor a cgroup.
#pragma once

namespace tornfs::harness {

// Sends SIGKILL to every descendant of the calling process, which must be a child subreaper, and
// returns when a look at /proc found none without one. Because a process with SIGKILL pending
// cannot fork, nobody slips through.
void KillDescendants();

}  // namespace tornfs::harness
