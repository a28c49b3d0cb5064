#!/usr/bin/env bash
# make parity: our key averages against torch's own tables of fresh runs on every PyTorch generation, and our analyses against
# Holistic Trace Analysis and the TensorBoard plugin on real traces. Usage: bench/parity/run.sh [--tables | TRACES]
# --tables: torch's own tables only; TRACES: folder of real traces
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
traces=${1:-${BOTTLENECK_TRACES:-$root/../shared/traces}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compare ROOT FILE...: runs HTA on the files, then prints the table of agreements; fails where a row is neither equal nor explained.
compare() {
  "$python" "$here/holistic.py" "$@" 2>/dev/null >"$work/holistic.jsonl"
  (cd "$root" && go run ./bench/parity "$1" <"$work/holistic.jsonl")
}

# plugin ROOT FILE...: the same with the TensorBoard plugin.
plugin() {
  "$tensorboard" "$here/plugin.py" "$@" 2>/dev/null >"$work/plugin.jsonl"
  (cd "$root" && go run ./bench/parity -plugin "$1" <"$work/plugin.jsonl")
}

echo "== torch's key_averages() against ours: every column, row by row"
"$here/record.sh" "$work/torch"
(cd "$root" && BOTTLENECK_PARITY=$work/torch go test -count=1 -run TestTorchTables -v ./internal/analyse/ | grep -E '^ +--- |^(ok|FAIL|PASS)')
if [ "${1:-}" = --tables ]; then
  exit 0
fi

echo "== Holistic Trace Analysis against ours: the traces of docs/differences.md"
mkdir "$work/differences"
for file in "$root"/internal/analyse/testdata/differences/*.json; do
  gzip -c "$file" >"$work/differences/$(basename "$file").gz" # HTA reads plain files under .gz names only
done
python=$("$root/scripts/env.sh" peers)
tensorboard=$("$root/scripts/env.sh" tensorboard)
mapfile -t files < <(cd "$work/differences" && ls ./*.gz)
compare "$work/differences" "${files[@]}"
echo "== TensorBoard plugin against ours: the traces of docs/differences.md"
plugin "$work/differences" "${files[@]}"

if [ ! -d "$traces" ]; then
  echo "== no folder of real traces at $traces: Holistic Trace Analysis is left out"
  exit 0
fi
echo "== Holistic Trace Analysis against ours: real traces"
mapfile -t files < <(grep -v '^#' "$here/files.txt")
compare "$traces" "${files[@]}"
echo "== TensorBoard plugin against ours: real traces"
mapfile -t files < <(grep -v '^#' "$here/plugin.txt")
plugin "$traces" "${files[@]}"
