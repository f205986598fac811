#!/bin/sh
# Is the database `db` here sound, and has its table t every row that the promises name?
#   rows.sh PROMISES      lines `row N`; others are ignored
found=$(sqlite3 -batch db "pragma integrity_check; select 'row ' || n from t order by n" 2>&1)
status=$?
if [ $status -ne 0 ]; then
  echo "sqlite3 failed with $status: $found"
  exit 1
fi
printf '%s\n' "$found" | awk -v promises="$1" '
  NR == 1 && $0 != "ok" { print "integrity check: " $0; bad = 1; exit 1 }
  { there[$0] = 1 }
  END {
    if (bad) exit 1
    while ((getline line < promises) > 0) {
      if (line ~ /^row [0-9]+$/ && !(line in there)) {
        print "the committed " line " is missing"
        exit 1
      }
    }
  }'
