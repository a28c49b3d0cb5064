#!/bin/sh
# Records profile.json.gz and ../memray/stats.json with the tools of PyPI (scalene 2, memray 1): sh generate.sh PYTHON.
# Paths become those of nobody's machine.
set -eu
folder=$(mktemp -d)
cp "$(dirname "$0")/prog.py" "$folder"
here=$(cd "$(dirname "$0")" && pwd)
cd "$folder"
"$1" -m scalene run --outfile scalene.json prog.py
"$1" -m memray run -q -o memory.bin prog.py
"$1" -m memray stats --json -o memory.json memory.bin
clean="s#$folder#/home/user#g; s#$("$1" -c 'import sys; print(sys.base_prefix)')#/usr#g"
sed "$clean" scalene.json | gzip -9n >"$here/profile.json.gz"
sed "$clean" memory.json >"$here/../memray/stats.json"
rm -r "$folder"
