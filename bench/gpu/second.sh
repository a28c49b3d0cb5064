#!/bin/bash
out=$1; limit=$2
here=$(cd "$(dirname "$0")/../.." && pwd); tool=$here/bottleneck
work=$(mktemp -d); cd $here/bench/gpu
(
python3 -c "import torch; torch.zeros(1, device='cuda')"
echo "== cost ($SECONDS s)"
for how in plain tool no-trace no-sample plain; do
	case $how in
	plain) front=python3;;
	tool) front="$tool run --out $work/cost-tool -o $work/cost-tool.txt";;
	*) front="$tool run --$how --out $work/cost-$how -o $work/cost-$how.txt";;
	esac
	echo "$how: $(timeout 30 $front cost.py launch-cells 30 2>&1 | tail -1)"
done
echo "== sessions ($SECONDS s)"
timeout 70 bash record.sh "$work" 60 precision-layers attention-written memory-activation
echo "== rows ($SECONDS s)"
bash rows.sh "$work" $((limit - SECONDS - 20))
echo "== end ($SECONDS s)"
) 2>&1 | tee "$out/all.log"
cd "$work" && rm -rf cost-no-* && tar c . | gzip -1 | split -b 15M - "$out/all.tgz."
