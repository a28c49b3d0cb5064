package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"bottleneck/internal/testkit"
)

// lines is an output that can be waited for.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.text.Write(b)
	select {
	case l.more <- struct{}{}:
	default:
	}
	return n, err
}

// first waits for the first whole line; "" when done is closed before.
func (l *lines) first(done <-chan struct{}) string {
	for {
		l.mu.Lock()
		line, _, whole := strings.Cut(l.text.String(), "\n")
		l.mu.Unlock()
		if whole {
			return line
		}
		select {
		case <-l.more:
		case <-done:
			return ""
		}
	}
}

func viewTrace(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(testkit.NewTrace().Op("aten::add", 1, 0, 5000).String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestView serves a page at the printed address, also after its trace is gone, and ends when it is told to.
func TestView(t *testing.T) {
	trace := viewTrace(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, done, status := &lines{more: make(chan struct{}, 1)}, make(chan struct{}), 0
	var stderr bytes.Buffer
	go func() {
		defer close(done)
		status = Run(ctx, []string{"view", "--no-open", "--port", "0", trace}, strings.NewReader(""), out, &stderr)
	}()
	address := out.first(done)
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("printed %q; %s", address, stderr.String())
	}
	if err := os.Remove(trace); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"": "<!DOCTYPE html>", "data/summary": `"bottleneck.page/1"`,
		"data/table/operators": "aten::add"} {
		res, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("%q: status %d, %.200s", path, res.StatusCode, body)
		}
	}
	stop()
	if <-done; status != 0 {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

// TestViewPortInUse names the port, who has it where that can be seen, and the next free one.
func TestViewPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	var stdout, stderr bytes.Buffer
	if status := Run(context.Background(), []string{"view", "--no-open", "--port", port, viewTrace(t)}, strings.NewReader(""), &stdout,
		&stderr); status != exitUnusable {
		t.Errorf("status %d", status)
	}
	for _, want := range []string{"port " + port + " cannot be used", "is free"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%q does not say %q", stderr.String(), want)
		}
	}
	if user := portUser(l.Addr().(*net.TCPAddr).Port); user != "" && !strings.Contains(stderr.String(), strconv.Itoa(os.Getpid())) {
		t.Errorf("%q does not name process %d", stderr.String(), os.Getpid())
	}
}

func TestViewUsage(t *testing.T) {
	for _, args := range [][]string{{"view"}, {"view", "--port", "70000", "x"}, {"view", "--port", "-1", "x"}} {
		var stdout, stderr bytes.Buffer
		if status := Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr); status != exitUsage {
			t.Errorf("%v: status %d, %s", args, status, stderr.String())
		}
	}
}

func TestTunnelHint(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(key string) string { return values[key] }
	}
	for want, values := range map[string]map[string]string{
		"": {}, "ssh -N -L 8484:localhost:8484 me@192.0.2.7\n": {"SSH_CONNECTION": "198.51.100.1 5000 192.0.2.7 22", "USER": "me"},
		"ssh -N -L 8484:localhost:8484 -p 2222 192.0.2.7\n": {"SSH_CONNECTION": "198.51.100.1 5000 192.0.2.7 2222"},
	} {
		if got := tunnelHint(8484, "T", env(values)); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q does not hold %q", got, want)
		}
	}
}
