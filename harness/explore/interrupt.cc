#include "harness/explore/interrupt.h"

#include <signal.h>

#include <initializer_list>

namespace tornfs::harness {
namespace {

volatile sig_atomic_t interrupted = 0;

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

bool Interrupted() { return interrupted != 0; }

}  // namespace tornfs::harness
