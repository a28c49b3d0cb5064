#!/usr/bin/env bash
# Profiles examples/images.py with ./bottleneck: with the first Python that has torch, else with .venv, where torch is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

# usable PYTHON: whether that interpreter has torch and numpy.
usable() {
  command -v "$1" >/dev/null && "$1" -c 'import torch, numpy' 2>/dev/null
}

# maker: an interpreter for which there are wheels of torch and that can make virtual environments.
maker() {
  local candidate
  for candidate in python3.13 python3.12 python3.11 python3.10 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "make demo: needs Python 3.9 or later with venv (on Debian and Ubuntu: apt install python3-venv)" >&2
  return 1
}

python=
for candidate in ${PYTHON:-} ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python"} python3 python .venv/bin/python; do
  if usable "$candidate"; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  base=$(maker)
  echo "make demo: no Python with torch found; installing it into .venv (some 5 GB where the wheels bring CUDA)"
  "$base" -m venv .venv
  .venv/bin/python -m pip install --quiet torch numpy
  python=.venv/bin/python
fi

echo "make demo: ./bottleneck run --python $python examples/images.py $*"
./bottleneck run --python "$python" --out "bottleneck-out/demo-$$" examples/images.py "$@"
echo
echo "Look further: ./bottleneck report bottleneck-out/demo-$$ --all     (other programs to try: examples/)"
echo "In the browser: ./bottleneck view bottleneck-out/demo-$$     (while it runs: ./bottleneck run --view …)"
