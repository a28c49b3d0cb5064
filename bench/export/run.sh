#!/usr/bin/env bash
# What exporting one trace costs in every form: wall clock and CPU seconds, peak memory, bytes written. Bounds: 1 s and 300 MB each.
# Usage: bench/export/run.sh TRACE [BOTTLENECK]     TRACE: .json or .json.gz; forms that the trace has nothing for say so
set -euo pipefail

trace=$1
program=${2:-./bottleneck}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '%-16s %8s %8s %8s %12s\n' form 'wall s' 'CPU s' MB 'bytes out'
for form in $("$program" export --list | awk '{print $1}'); do
  if message=$(/usr/bin/time -o "$work/time" -f '%e %U %S %M' "$program" export --to "$form" -o "$work/out" "$trace" 2>&1 >/dev/null); then
    read -r wall user system kilobytes <"$work/time"
    written=$(du -sb "$work/out" | cut -f1)
    awk -v f="$form" -v w="$wall" -v u="$user" -v s="$system" -v k="$kilobytes" -v b="$written" \
      'BEGIN {printf "%-16s %8.2f %8.2f %8.0f %12d%s\n", f, w, u + s, k / 1024, b, ((w > 1 || k > 300 * 1024) ? "  above the bound" : "")}'
  else
    printf '%-16s %s\n' "$form" "$(tail -n 1 <<<"$message")"
  fi
  rm -rf "$work/out"
done
