#!/bin/bash
# All that a lent device can show in one call: all.sh OUT SECONDS [CASE…].
here=$(dirname "$0")
out=$1 limit=$2
shift 2
work=$(mktemp -d)
order="sync-logging copy-pageable launch-optimizer precision-layers layout-pictures attention-written sync-masks input-decoding
launch-one memory-activation alloc-cache copy-encodings again-prefix sync-norms launch-cells copy-items again-activations
no-demand-policy healthy-language amp-overflow healthy-graphs"
[ $# -gt 0 ] || set -- $order
turns=$(for case in "$@"; do [ -e "$here/../../testdata/gpu/$case/fixed.py" ] && echo "$case"; done)
mkdir -p "$out"
(
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.max.sm --format=csv
time python3 -c "import torch, torchvision, transformers; print(torch.__version__, torch.zeros(1, device='cuda'))"
echo "== sessions ($SECONDS s)"
bash "$here/record.sh" "$work" $((limit * 60 / 100)) "$@"
echo "== turns ($SECONDS s)"
timeout 130 python3 "$here/turns.py" "$work/turns.json" 100 $turns
echo "== rows ($SECONDS s)"
bash "$here/rows.sh" "$work" $((limit - SECONDS - 30))
echo "== end ($SECONDS s)"
) 2>&1 | tee "$out/all.log"
cd "$work" && tar c . | gzip -1 | split -b 15M - "$out/all.tgz."
ls -la "$out"
