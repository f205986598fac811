#include "harness/explore/interrupt.h"

#include <signal.h>

#include <initializer_list>

namespace tornfs::harness {
namespace {

volatile sig_atomic_t interrupts = 0;

}  // namespace

void CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupts = interrupts + 1; };
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

bool Interrupted() { return interrupts != 0; }

int Interrupts() { return interrupts; }

}  // namespace tornfs::harness
