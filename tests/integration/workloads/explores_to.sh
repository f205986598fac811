#!/bin/bash
# explores_to.sh STATUS TEXT TORNFS ARGUMENT...: passes if `TORNFS explore ARGUMENT...` exits with
# STATUS and prints TEXT, and, where a violation was wanted, if its replay fails as it did. Passes
# on the 77 of a machine without FUSE.
set -euo pipefail

want_status=$1
want_text=$2
tornfs=$3
shift 3

# Not below /tmp: programs under test see a private copy of that.
out=$(mktemp -d "$PWD/out.XXXXXX")
trap 'rm -rf "$out" "$out.log"' EXIT

# expect STATUS ARGUMENT...
expect() {
  local want=$1 status=0
  shift
  "$tornfs" "$@" 2>&1 | tee "$out.log" || status=${PIPESTATUS[0]}
  if ((status == 77)); then exit 77; fi
  if ((status != want)); then
    echo "FAILED: exit status $status, wanted $want"
    exit 1
  fi
}

expect "$want_status" explore --out "$out" "$@"
if ! grep -qF -- "$want_text" "$out.log"; then
  echo "FAILED: does not say '$want_text'"
  exit 1
fi
if ((want_status == 1)); then
  for finding in "$out"/findings/f-*; do
    expect 1 replay --out "$out" "$(basename "$finding")"
  done
fi
