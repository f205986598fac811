// Ctrl-C and SIGTERM while this process itself runs programs on a stage: asked for, not obeyed at
// once, so that nothing is left behind.
#pragma once

namespace tornfs::harness {

// From now on SIGINT and SIGTERM are only remembered. They end waits of the event loop.
void CatchInterrupts();
[[nodiscard]] bool Interrupted();
// How many there were.
[[nodiscard]] int Interrupts();

}  // namespace tornfs::harness
