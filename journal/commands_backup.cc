// backup and restore: a copy of the whole journal under another name, and the way back.
#include "journal/cli.h"
#include "journal/install_backup.h"
#include "journal/verify.h"
#include "journal/with_journal.h"

namespace tornfs::journal::cli {
namespace {

std::string Line(const Request& request, std::string_view verb, const State& state) {
  return OpLine(verb, state.head, state.head_checksum, request.json);
}

// Replaces the files of the journal by those of the backup; a crash on the way leaves the old ones.
Status Replace(const Request& request) {
  PosixStorage storage(request.directory);
  JOURNAL_TRY(storage.CreateDirectory());
  JOURNAL_TRY(storage.Lock(std::string(kLockName)));
  InstallBackup guard(request.directory);
  const auto recovered = guard.Recover(request.options.rules);
  if (!recovered) return tl::make_unexpected(recovered.error());
  JOURNAL_TRY(guard.Begin());
  JOURNAL_TRY(guard.Clear());
  JOURNAL_TRY(CopyInto(request.other, request.directory));
  return guard.Finish();
}

}  // namespace

Status RecoverInstall(const Request& request) {
  InstallBackup guard(request.directory);
  if (!guard.Pending()) return {};
  PosixStorage storage(request.directory);
  JOURNAL_TRY(storage.Lock(std::string(kLockName)));
  const auto recovered = guard.Recover(request.options.rules);
  return recovered ? Status() : tl::make_unexpected(recovered.error());
}

std::string ReadableFolder(const Request& request) {
  const InstallBackup guard(request.directory);
  return guard.Exists() ? guard.path() : request.directory;
}

int RunBackup(const Request& request) {
  return WithJournal(request, [&](Journal& journal) -> Status {
    JOURNAL_TRY(CopyFolder(request.directory, request.other));
    return PrintLines(Line(request, "backup", journal.state()));
  });
}

// The backup is verified first: what it would be refused for must not replace anything. Promises
// above its checkpoint are withdrawn, and those that it keeps are made again.
int RunRestore(const Request& request) {
  PosixStorage source(request.other);
  const auto snapshot = LoadSnapshot(source, request.options);
  if (!snapshot) return PrintError(snapshot.error(), request.json);
  if (!snapshot->history) {
    return PrintError({ErrorKind::kInvalid, 0, request.other + " holds no journal"}, request.json);
  }
  const std::uint64_t from = snapshot->history->state.checkpoint + 1;
  const std::string number = std::to_string(from);
  const Status printed = PrintLines(request.json ? R"({"truncating":)" + number + "}\n"
                                                 : "truncating " + number + "\n");
  if (!printed) return PrintError(printed.error(), request.json);
  const Status replaced = Replace(request);
  if (!replaced) return PrintError(replaced.error(), request.json);
  return RunRecover(request);
}

}  // namespace tornfs::journal::cli
