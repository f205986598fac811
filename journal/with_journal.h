// Opening a journal for one command of the program.
#pragma once

#include "journal/cli.h"
#include "journal/journal.h"
#include "journal/output.h"
#include "journal/posix_storage.h"

namespace tornfs::journal::cli {

// Says on standard error how far the opening of a large journal has come.
[[nodiscard]] Options WithProgress(Options options);

// Opens the journal of `request`, runs `action` on it and turns what happened into an exit code.
template <class Action>
int WithJournal(const Request& request, Action action) {
  const Status recovered = RecoverInstall(request);
  if (!recovered) return PrintError(recovered.error(), request.json);
  PosixStorage storage(request.directory);
  const auto journal = Journal::Open(storage, WithProgress(request.options));
  if (!journal) return PrintError(journal.error(), request.json);
  const Status done = action(**journal);
  return done ? kExitOk : PrintError(done.error(), request.json);
}

}  // namespace tornfs::journal::cli
