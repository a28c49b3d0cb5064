#!/usr/bin/env bash
# Fetches the pages that bench/page measures ours beside, and prints their folder: speedscope from npm, and snakeviz and TensorBoard's
# plugin in environments of scripts/env.sh. Perfetto's page is in no registry. What is downloaded stays outside the checkout.
set -euo pipefail
cd "$(dirname "$0")/../.."

cache=${BOTTLENECK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/bottleneck-dev}/page-peers
version=1.25.0
mkdir -p "$cache"
if [ ! -e "$cache/complete-$version" ]; then
  npm install --prefix "$cache" --ignore-scripts --no-audit --no-fund --no-progress "speedscope@$version" >&2 && touch "$cache/complete-$version" || echo "bench-page: no speedscope" >&2
fi
for peer in snakeviz tensorboard; do
  if python=$(scripts/env.sh "$peer"); then
    ln -sfn "$(dirname "$(dirname "$python")")" "$cache/$peer"
  fi
done
echo "$cache"
