#!/usr/bin/env bash
# Checks the types of the page's sources and bundles them: internal/ui/src to internal/ui/dist. With --modules only fetches the
# libraries and prints their folder, which is outside the checkout as all that is downloaded (see env.sh).
set -euo pipefail

cd "$(dirname "$0")/../internal/ui"
cache=${BOTTLENECK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/bottleneck-dev}/ui
mkdir -p "$cache"
(
  flock 9
  if ! cmp -s package-lock.json "$cache/complete"; then
    rm -f "$cache/complete" && cp package.json package-lock.json .npmrc "$cache/" && (cd "$cache" && npm ci --ignore-scripts --no-progress >&2)
    cp package-lock.json "$cache/complete"
  fi
) 9>"$cache.lock"
if [ "${1:-}" = --modules ]; then
  echo "$cache/node_modules"
  exit
fi
# TypeScript looks for libraries above the sources: the sources are shown to it beside the libraries.
rm -rf "$cache/src" && cp -r src tsconfig.json "$cache/" && (cd "$cache" && node node_modules/typescript/bin/tsc --project tsconfig.json)
cd ../.. && exec ${GO:-go} run ./internal/ui/bundle -modules "$cache/node_modules" internal/ui
