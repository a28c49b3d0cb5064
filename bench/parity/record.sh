#!/usr/bin/env bash
# Records the programs of record.py under every PyTorch generation, each with torch's own tables, into the folder given.
# Usage: bench/parity/record.sh OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for name in newest torch-2.4 torch-1.13; do
  python=$("$here/../../scripts/env.sh" "$name")
  version=$("$python" -c 'import torch; print(torch.__version__.split("+")[0])')
  KINETO_LOG_LEVEL=99 TORCH_CPP_LOG_LEVEL=ERROR "$python" "$here/record.py" "$1/torch-$version" 2>/dev/null >&2
  echo "recorded $1/torch-$version"
done
