#include "harness/explore/repro_script.h"

#include <vector>

#include "harness/command_line.h"

namespace tornfs::harness {
namespace {

// Nothing in them that a shell or sed would read as syntax.
constexpr const char* kMountHere = "@TORNFS-MOUNT@";
constexpr const char* kPromisesHere = "@TORNFS-PROMISES@";

std::string SingleQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Words for the script to execute. The paths it makes have no blank or quote in them, so they can
// be put in wherever a stand-in is.
std::string Words(const std::vector<std::string>& words) {
  std::string script;
  for (const std::string& word : words) {
    script += script.empty() ? "" : " ";
    const bool stands_in =
        word.find(kMountHere) != std::string::npos || word.find(kPromisesHere) != std::string::npos;
    script += stands_in ? "\"$(put_in " + SingleQuoted(word) + ")\"" : SingleQuoted(word);
  }
  return script;
}

std::string CommandLine(const std::string& command, const ExploreSpec& spec) {
  auto words = ParseCommandString(command, {spec.origin, kMountHere, kPromisesHere});
  return words ? Words(*words) : "true";
}

constexpr const char* kPaths = R"sh(here=$(cd "$(dirname "$0")" && pwd) || exit 125
made=$(mktemp -d /tmp/tornfs-repro-XXXXXX) || exit 125
trap 'rm -rf "$made"' EXIT
TORNFS_MOUNT=$made/world
TORNFS_PROMISES=$made/promises
PYTHONUNBUFFERED=1
)sh";

constexpr const char* kPlace =
    R"sh(export TORNFS_MOUNT TORNFS_PROMISES TORNFS_ORIGIN TORNFS_SEED PYTHONUNBUFFERED
mkdir "$TORNFS_MOUNT" && cp -a "$here/after/." "$TORNFS_MOUNT" || exit 125
cp "$here/promises.txt" "$TORNFS_PROMISES" || exit 125
cd "$TORNFS_MOUNT" || exit 125
put_in() {
  printf '%s\n' "$1" |
    sed "s|@TORNFS-MOUNT@|$TORNFS_MOUNT|g; s|@TORNFS-PROMISES@|$TORNFS_PROMISES|g"
}
)sh";

// Without a check: what the crash changed.
constexpr const char* kCompare = R"sh(here=$(cd "$(dirname "$0")" && pwd) || exit 125
head -n 1 "$here/check.log"
diff -r "$here/before" "$here/after"
status=$?
echo "diff of before/ and after/ exited with $status"
exit "$status"
)sh";

// Behind the command of recovery. Its whole lines are promises too.
constexpr const char* kAfterRecovery = R"sh( >"$made/recovered" </dev/null
status=$?
cat "$made/recovered"
if [ "$status" -ne 0 ]; then
  echo "recovery exited with $status"
  exit 1
fi
while IFS= read -r line; do
  printf '%s\n' "$line"
done <"$made/recovered" >>"$TORNFS_PROMISES"
)sh";

constexpr const char* kAfterCheck = R"sh( </dev/null
status=$?
echo "check exited with $status"
exit "$status"
)sh";

}  // namespace

std::string ReproScript(const std::string& finding_id, const ExploreSpec& spec) {
  std::string script = "#!/bin/sh\n# " + finding_id +
                       ": puts the tree that the crash left to recovery and check, without "
                       "tornfs.\n";
  if (spec.recover.empty() && spec.check.empty()) return script + kCompare;
  script += kPaths;
  script += "TORNFS_ORIGIN=" + SingleQuoted(spec.origin) + "\n";
  script += "TORNFS_SEED=" + std::to_string(spec.seed) + "\n";
  script += kPlace;
  if (!spec.recover.empty()) script += "env " + CommandLine(spec.recover, spec) + kAfterRecovery;
  const std::string check = spec.check.empty() ? "true" : CommandLine(spec.check, spec);
  return script + "env " + check + kAfterCheck;
}

}  // namespace tornfs::harness
