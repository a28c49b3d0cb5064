#!/bin/bash
# Rows of docs/proven.md that need a GPU and no verdict: rows.sh OUT SECONDS. Each leaves its output in OUT.
here=$(cd "$(dirname "$0")/../.." && pwd)
out=$1 ends=$((SECONDS + $2)) tool=$here/bottleneck
mkdir -p "$out"
row() {
	local name=$1
	shift
	[ $SECONDS -lt $ends ] || { echo "$name: no time left"; return; }
	local began=$(date +%s.%N)
	timeout -k 5 45 "$@" >"$out/$name.log" 2>&1
	echo "$name: exit $?, $(echo "$(date +%s.%N) $began" | awk '{printf "%.1f", $1 - $2}') s"
}
cd "$here/testdata/gpu" || exit
row isolate-attention "$tool" isolate --top 3 --run --seconds 1 -o "$out/isolate_attention.py" "$out/attention-written"
row memory python3 "$here/bench/gpu/memory.py" "$out/memory.pickle"
row with-ncu "$tool" run --with ncu --emit nvtx --out "$out/with-ncu" -o "$out/with-ncu.txt" "$here/bench/gpu/short.py"
row taken "$tool" run --out "$out/taken" -o "$out/taken.txt" -- ncu --launch-count 1 --clock-control none python3 sync-norms/slow.py
row beside bash -c "python3 '$here/bench/gpu/busy.py' & '$tool' run --out '$out/beside' -o '$out/beside.txt' healthy-language/slow.py; kill %1"
row isolate-precision "$tool" isolate --top 3 --run --seconds 1 -o "$out/isolate_precision.py" "$out/precision-layers"
row footprint bash -c "for side in '' '$tool run --out $out/footprint -o $out/footprint.txt'; do
	nvidia-smi --query-gpu=timestamp,memory.used --format=csv,noheader -lms 300 & poll=\$!
	\${side:-python3} sync-norms/slow.py; kill \$poll; echo ==; done"
row blocking "$tool" run --cuda-blocking --out "$out/blocking" -o "$out/blocking.txt" sync-logging/slow.py
row lines "$tool" run --lines Points.forward --out "$out/lines" -o "$out/lines.txt" sync-masks/slow.py
row doctor "$tool" doctor
