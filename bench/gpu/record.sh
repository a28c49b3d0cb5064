#!/bin/bash
# Runs each case's slow program under the tool: record.sh OUT SECONDS [CASE…] leaves OUT/CASE (the session), OUT/CASE.txt and OUT/CASE.json.
here=$(cd "$(dirname "$0")/../.." && pwd)
cases=${CASES:-$here/testdata/gpu}
out=$1 ends=$((SECONDS + $2))
shift 2
mkdir -p "$out"
[ $# -gt 0 ] || set -- $(cd "$cases" && dirname */slow.py)
for case in "$@"; do
	[ $SECONDS -lt $ends ] || { echo "$case: no time left"; continue; }
	began=$(date +%s.%N)
	(cd "$cases/$case" &&
		timeout -k 5 60 "$here/bottleneck" run --out "$out/$case" --json "$out/$case.json" -o "$out/$case.txt" slow.py >"$out/$case.out" 2>&1)
	echo "$case: exit $?, $(echo "$(date +%s.%N) $began" | awk '{printf "%.1f", $1 - $2}') s: $(tail -1 "$out/$case.out")"
	grep -m1 -A1 . "$out/$case.txt" | head -2
done
