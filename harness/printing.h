// Results on standard output that must not get lost: nobody may take silence for "no violation".
#pragma once

namespace tornfs::harness {

// For the start of a command that prints its result: whether standard output is open; if not, one
// line on standard error says so. From here on a reader that went away does not end this process.
[[nodiscard]] bool CanPrint();

// For its end: `code` if all that was given to std::cout has been written. Otherwise one line on
// standard error, and a 0 becomes kExitInconclusive.
[[nodiscard]] int AfterPrinting(int code);

}  // namespace tornfs::harness
