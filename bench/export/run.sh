#!/usr/bin/env bash
# What exporting costs in every form: wall clock and CPU seconds, peak memory, bytes written. The first path is judged: 1 s and 300 MB;
# a form that took longer with less than 1 s of CPU has waited for other programs. Ends with status 1 when one is above.
# Usage: bench/export/run.sh BOTTLENECK PATH...     PATH: a trace or a session; forms that it has nothing for are left out
set -euo pipefail

program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
judge=yes above=0

# export_form FORM PATH: one line of the table; counts it if it is above the bounds.
export_form() {
  local wall user system kilobytes written verdict=""
  /usr/bin/time -o "$work/time" -f '%e %U %S %M' "$program" export --to "$1" -o "$work/out" "$2" >/dev/null 2>&1 || return 0
  read -r wall user system kilobytes <"$work/time"
  written=$(du -sb "$work/out" | cut -f1)
  rm -rf "$work/out"
  if [ -n "$judge" ]; then
    verdict=$(awk -v w="$wall" -v u="$user" -v s="$system" -v k="$kilobytes" \
      'BEGIN {big = k > 300 * 1024; slow = w > 1; busy = u + s < 1
             print (big || slow && !busy ? "ABOVE" : slow ? "waited for a busy machine" : "good")}')
    [ "$verdict" != ABOVE ] || above=$((above + 1))
  fi
  awk -v f="$1" -v w="$wall" -v u="$user" -v s="$system" -v k="$kilobytes" -v b="$written" -v v="$verdict" \
    'BEGIN {printf "%-20s %8.2f %8.2f %8.0f %12d  %s\n", f, w, u + s, k / 1024, b, v}'
}

for path in "$@"; do
  printf '%s, load %s\n' "$(basename "$path")" "$(cut -d' ' -f1 /proc/loadavg)"
  printf '%-20s %8s %8s %8s %12s  %s\n' form 'wall s' 'CPU s' MB 'bytes out' "${judge:+goal: 1 s, 300 MB}"
  for form in $("$program" export --list | awk '{print $1}'); do
    export_form "$form" "$path"
  done
  judge=""
done
[ "$above" = 0 ] || { echo "$above forms are above the bounds"; exit 1; }
