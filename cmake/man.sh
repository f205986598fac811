#!/bin/bash
# man.sh BIN OUT VERSION: manual pages of the programs in BIN, one for each command, from what their
# --help says. Used by the target `man`.
set -euo pipefail

bin=$1
out=$2
version=$3
mkdir -p "$out"

# page NAME SUMMARY COMMAND...: OUT/NAME.1 from `COMMAND --help`.
page() {
  local name=$1 summary=$2
  shift 2
  help2man --no-info --no-discard-stderr --name="$summary" --version-string="$version" \
    --output="$out/$name.1" "$*"
  echo "$out/$name.1"
}

# A line of a command list: "  NAME   summary"; nothing else is indented by exactly two.
for program in tornfs journal; do
  "$bin/$program" --help | sed -n 's/^  \([a-z]\{3,\}\)  *\(.*\)/\1 \2/p' |
    while read -r command summary; do
      page "$program-$command" "${summary%.}" "$bin/$program" "$command"
    done
done
page tornfs "a filesystem that loses power on command" "$bin/tornfs"
page journal "a durable sequence of records in a directory" "$bin/journal"
