#!/bin/sh
# Measures the trace engine: the reader against Holistic Trace Analysis on three big files (CPU seconds tell more than
# wall seconds on a shared machine), a trace of 4 GB, and a job of 1,000 ranks.
#
#   bench/engine/run.sh TRACES [FOLDER FOR 5 GB OF GENERATED TRACES]
set -eu
traces=$(realpath "$1")
work=${2:+$(realpath "$2")}
cd "$(dirname "$0")/../.."
here=bench/engine
python=$(scripts/env.sh peers)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
go build -o "$bin/readtrace" ./bench/readtrace
go build -o "$bin/gentrace" ./bench/gentrace
go test ./internal/ingest -run '^$' -bench 'Columns|ByteLoop' -cpu 1
for file in segment-anything-fast/eager_False tracelens-big-mi300/mi300_owlv2-large hta-df-index-resolver-v100/trace_8_rank_1; do
	echo "$file"
	"$python" "$here/load_hta.py" "$traces/$file.json.gz"
	"$bin/readtrace" "$traces/$file.json.gz"
done
[ -n "$work" ] || exit 0
"$bin/gentrace" -size 4000 "$traces/segment-anything-fast/eager_False.json.gz" >"$work/4gb.json"
"$bin/readtrace" "$work/4gb.json"
rm "$work/4gb.json"
mkdir -p "$work/ranks"
"$bin/gentrace" -ranks 1000 -out "$work/ranks" "$traces/megatron-tp8-a100/megatron_kineto_0.json.gz"
"$bin/readtrace" -each "$work/ranks"
rm -r "$work/ranks"
