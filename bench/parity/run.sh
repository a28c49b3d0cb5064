#!/usr/bin/env bash
# make parity: our key averages against torch's own tables of fresh runs on every PyTorch generation, and our analyses against
# Holistic Trace Analysis and the TensorBoard plugin on real traces. Each part says how long it took; the peers work through the
# real traces meanwhile. Usage: bench/parity/run.sh [--tables | --peers] [TRACES]
# --tables: torch's own tables only; --peers: the others only; TRACES: folder of real traces
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
only=
case ${1:-} in --*) only=$1 && shift ;; esac
traces=${1:-${BOTTLENECK_TRACES:-$root/../shared/traces}}
work=$(mktemp -d)
status=0

# part TITLE: begins a part of the comparison and says how long the one before took.
began=$SECONDS
part() {
  if ((SECONDS > began)); then echo "   ($((SECONDS - began)) s)"; fi
  began=$SECONDS
  if [ -n "$1" ]; then echo "== $1"; fi
}
finish() {
  part ""
  echo "   (all parts: $SECONDS s)"
  for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

# peer NAME INTERPRETER SCRIPT ROOT FILE...: runs a peer on the files; its numbers are in NAME.jsonl.
peer() { "$2" "$here/$3" "${@:4}" 2>/dev/null >"$work/$1.jsonl"; }

# agree NAME ROOT [-plugin]: prints the table of agreements; fails where a row is neither equal nor explained.
agree() { (cd "$root" && go run ./bench/parity "${@:3}" "$2" <"$work/$1.jsonl"); }

if [ "$only" != --tables ]; then
  python=$("$root/scripts/env.sh" peers)
  tensorboard=$("$root/scripts/env.sh" tensorboard)
  if [ -d "$traces" ]; then
    mapfile -t files < <(grep -v '^#' "$here/files.txt")
    peer real "$python" holistic.py "$traces" "${files[@]}" &
    holistic=$!
  fi
fi

if [ "$only" != --peers ]; then
  part "torch's key_averages() against ours: every column, row by row"
  "$here/record.sh" "$work/torch"
  (cd "$root" && BOTTLENECK_PARITY=$work/torch go test -count=1 -run TestTorchTables -v ./internal/analyse/ | grep -E "^ +--- |_test.go:|^(ok|FAIL|PASS)") || status=1
fi
if [ "$only" = --tables ]; then
  exit "$status"
fi

mkdir "$work/differences"
for file in "$root"/internal/analyse/testdata/differences/*.json; do
  gzip -c "$file" >"$work/differences/$(basename "$file").gz" # HTA reads plain files under .gz names only
done
mapfile -t files < <(cd "$work/differences" && ls ./*.gz)
part "Holistic Trace Analysis against ours: the traces of docs/differences.md"
peer small "$python" holistic.py "$work/differences" "${files[@]}"
agree small "$work/differences" || status=1
part "TensorBoard plugin against ours: the traces of docs/differences.md"
peer small-plugin "$tensorboard" plugin.py "$work/differences" "${files[@]}"
agree small-plugin "$work/differences" -plugin || status=1

if [ ! -d "$traces" ]; then
  part "no folder of real traces at $traces: they are left out"
  exit "$status"
fi
part "TensorBoard plugin against ours: real traces"
mapfile -t files < <(grep -v '^#' "$here/plugin.txt")
peer real-plugin "$tensorboard" plugin.py "$traces" "${files[@]}"
agree real-plugin "$traces" -plugin || status=1
part "Holistic Trace Analysis against ours: real traces"
wait "$holistic"
agree real "$traces" || status=1
exit "$status"
