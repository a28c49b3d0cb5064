package agent

import "testing"

// TestLinesAreSplitWhereRowsEnd encodes rows whose strings look like what stands between rows.
func TestLinesAreSplitWhereRowsEnd(t *testing.T) {
	const program = `
import json, sys, zlib
sys.path.insert(0, "../py")
from _bneck_agent import core
rows = [("a", 1, 'x],"\\u0000",[y\n\0 "q'), ("b", None, [[1, "f"], ["\0"], ["\0", [2]]]), ("c", object, {"k": "]"}), ("d",)]
for lines in (rows, rows[:1], [{"schema": "x", "list": [1]}]):
    text = zlib.decompress(core.encode(lines), 31).decode()
    assert text == "".join(json.dumps(line, separators=(",", ":"), default=str) + "\n" for line in lines), text
print("same")
`
	for name, interpreter := range interpreters(t) {
		if got := start(t, interpreter, environment(), "-c", program); got.stdout != "same\n" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
