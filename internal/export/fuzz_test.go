package export

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// FuzzExport reads whatever it is given and writes every form of what was read: nothing may panic, and what is JSON must be
// well formed whatever the input was.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a\"b","pid":1,"tid":1,"ts":1,"dur":2,"args":{"External id":1,"Input Dims":[[1,2],[[3]]],"Input type":["x"}}]`))
	f.Add([]byte(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":"stream 7","ts":-5,"dur":1e30,"args":{"device":0,"stream":7,"correlation":3,"blocks per SM":inf}}`))
	f.Add([]byte(`{"user":{"a":[1,2,"b":},"traceEvents":[{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":3,"args":{"Device Type":1,"Device Id":0,"Addr":18446744073709551615,"Bytes":-12}},{"ph":"C","name":"p","pid":1,"ts":1,"args":{"":"nan"}},{"ph":"X","cat":"python_function","name":"f.py(3): g","pid":1,"tid":1,"ts":1,"dur":9,"args":{"Python id":1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &model.Session{Strings: &model.Strings{}}
		if _, err := ingest.ReadTrace(context.Background(), bytes.NewReader(data), "fuzz", s); err != nil {
			return
		}
		for _, format := range Formats() {
			for _, path := range []string{"", "x.html", "x.raw.json"} {
				if path != "" && format.Name != "memory-timeline" {
					continue
				}
				var out bytes.Buffer
				err := format.Write(context.Background(), s, &out, Options{Rank: model.NoRank, Path: path})
				if err == nil && (format.Name == "chrome" || format.Name == "json" || format.Name == "memory-timeline" &&
					path != "x.html") && !json.Valid(out.Bytes()) {
					t.Fatalf("%s %s is not JSON: %s", format.Name, path, out.Bytes())
				}
			}
		}
	})
}
