#include "harness/printing.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>

#include "common/log.h"
#include "harness/cli.h"

namespace tornfs::harness {

bool CanPrint() {
  ::signal(SIGPIPE, SIG_IGN);
  // What was closed when this process started is open for reading only: see main.cc.
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return true;
  LogError("standard output is closed: there would be no telling the result");
  return false;
}

int AfterPrinting(int code) {
  if (std::cout.flush()) return code;
  LogError("the result could not be written to standard output");
  return code == kExitOk ? kExitInconclusive : code;
}

}  // namespace tornfs::harness
