#!/usr/bin/env bash
# make parity: our key averages against torch's own tables of fresh runs on every PyTorch generation, and our analyses against
# Holistic Trace Analysis on real traces. Usage: bench/parity/run.sh [TRACES]        TRACES: folder of real traces
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
traces=${1:-${BOTTLENECK_TRACES:-$root/../shared/traces}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== torch's key_averages() against ours: every column, row by row"
"$here/record.sh" "$work/torch"
(cd "$root" && BOTTLENECK_PARITY=$work/torch go test -count=1 -run TestTorchTables -v ./internal/analyse/ | grep -E '^ +--- |^(ok|FAIL|PASS)')

if [ ! -d "$traces" ]; then
  echo "== no folder of real traces at $traces: Holistic Trace Analysis is left out"
  exit 0
fi
echo "== Holistic Trace Analysis against ours"
mapfile -t files < <(grep -v '^#' "$here/files.txt")
"$("$root/scripts/env.sh" peers)" "$here/holistic.py" "$traces" "${files[@]}" 2>/dev/null >"$work/holistic.jsonl"
(cd "$root" && go run ./bench/parity "$traces" <"$work/holistic.jsonl")
