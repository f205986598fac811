// journal: the program. What it can do is in command_line.cc.
#include "journal/command_line.h"
#include "journal/output.h"

int main(int argc, char** argv) {
  namespace cli = tornfs::journal::cli;
  const cli::Invocation invocation = cli::ParseCommandLine(argc, argv);
  if (!invocation.usage_error.empty()) return cli::PrintUsageError(invocation.usage_error);
  if (!invocation.help.empty()) return cli::Print(invocation.help);
  return invocation.command(invocation.request);
}
