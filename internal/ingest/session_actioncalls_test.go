package ingest

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// TestReadActionCalls reads a file as the agent writes it, and what is damaged or false.
func TestReadActionCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls-actions.json.gz")
	read := func(text string, cut int) (int, int, error) {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
			t.Fatal("gzip fails")
		}
		if err := os.WriteFile(path, packed.Bytes()[:packed.Len()-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		actions, err := readActionCalls(path)
		functions := 0
		for _, a := range actions {
			functions += len(a.Functions)
		}
		return len(actions), functions, err
	}
	head := `{"schema":"bottleneck.calls-actions/1","functions":[["a.py",3,"f"],["~",0,"<len>"]],"actions":[`
	for _, c := range []struct {
		text               string
		cut                int
		actions, functions int
		bad                bool
	}{
		{text: head + `{"name":"step","measured":2,"functions":[[0,2,3,10,20],[1,4,4,1,1]]},{"name":"none","measured":0}]}`,
			actions: 1, functions: 2},
		{text: head + `{"name":"step","measured":2,"functions":[[2,1,1,1,1],[-1,1,1,1,1],[0,3,2,1,1],[0,1,1,-1,1],[0,1]]}]}`, actions: 1},
		{text: head + `{"name":"step","measured":2,"functions":[[0,2,3,1e99,20]]}]}`, bad: true},
		{text: `{"schema":"bottleneck.modules/1"}`, bad: true},
		{text: `{"schema":"bottleneck.calls-actions/1","functions":[["a.py","3","f"]]}`, bad: true},
		{text: head + `]}`, cut: 40, bad: true},
		{text: `[`, bad: true},
	} {
		actions, functions, err := read(c.text, c.cut)
		if actions != c.actions || functions != c.functions || (err != nil) != c.bad {
			t.Errorf("%s: %d actions, %d functions, error %v", c.text, actions, functions, err)
		}
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readActionCalls(path); err == nil {
		t.Error("no error for what is no such file")
	}
}
