#!/bin/bash
# tidy.sh BUILD [FILE...]: clang-tidy with .clang-tidy over every source file of ours that
# BUILD/compile_commands.json knows, or over FILEs. Exit status 1 if it finds anything.
set -euo pipefail

build=$(readlink -f "$1")
shift
cd "$(dirname "$(readlink -f "$0")")/../.."
if (($# == 0)); then
  mapfile -t files < <(find common fusefs harness journal workloads tests -name '*.cc' | sort)
else
  files=("$@")
fi
mapfile -t files < <(
  for file in "${files[@]}"; do
    if grep -qF "/$file\"" "$build/compile_commands.json"; then echo "$file"; fi
  done
)
# clang cannot read the header that g++ precompiled.
mkdir -p "$build/tidy"
sed -E 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//' "$build/compile_commands.json" \
  >"$build/tidy/compile_commands.json"
# xargs ends with 123 if any of them found something.
printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 1 nice clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option -p "$build/tidy" 2>&1 |
  { grep -vE '^[0-9]+ warnings? (generated|treated as error)' || true; }
