package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bottleneck/internal/page"
	"bottleneck/internal/web"
)

// parts is a source of one part.
type parts map[string]any

func (p parts) Part(name string) (any, error) {
	if v, ok := p[name]; ok {
		return v, nil
	}
	if name == "panic" {
		panic("hostile input")
	}
	return nil, fmt.Errorf("%w: %q", page.ErrNoPart, name)
}

const token = "t0ken_t0ken_t0ken"

func ask(t *testing.T, change func(*http.Request), path string) (*http.Response, string) {
	t.Helper()
	h := web.Handler(parts{"summary": map[string]int{"answer": 42}, "table/a b": 1},
		web.Options{Token: token, Hosts: []string{"login1.example.org"}})
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8484/", nil)
	r.URL.Path = path
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func TestGuard(t *testing.T) {
	inside := "/" + token + "/data/summary"
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		path   string
		status int
		says   string
	}{
		{"the page's own request", header("Origin", "http://127.0.0.1:8484"), inside, 200, "42"},
		{"typed", header("Sec-Fetch-Site", "none"), inside, 200, "42"},
		{"a link elsewhere", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
		}, "/" + token + "/", 200, "<!DOCTYPE html>"},
		{"through a tunnel", host("localhost:9000"), inside, 200, "42"},
		{"another address of this machine", host("[fe80::1]:8484"), inside, 200, "42"},
		{"a name of this machine", host("LOGIN1.example.org:8484"), inside, 200, "42"},
		{"no token", nil, "/data/summary", 403, "token"},
		{"no path", nil, "/", 403, "token"},
		{"wrong token", nil, "/t0ken_t0ken_t0keN/data/summary", 403, "token"},
		{"a beginning of the token", nil, "/t0ken/data/summary", 403, "token"},
		{"DNS rebinding", host("evil.example"), inside, 403, "--allow-host"},
		{"DNS rebinding to a look-alike", host("127.0.0.1.evil.example"), inside, 403, "--allow-host"},
		{"no host", host(""), inside, 403, "--allow-host"},
		{"a host with markup", host("<script>alert(1)</script>"), inside, 403, "--allow-host"},
		{"another site's script", header("Origin", "http://evil.example"), inside, 403, "refused"},
		{"a sandboxed frame", header("Origin", "null"), inside, 403, "refused"},
		{"another port of this machine", header("Origin", "http://127.0.0.1:9999"), inside, 403, "refused"},
		{"another site's image", header("Sec-Fetch-Site", "cross-site"), inside, 403, "refused"},
		{"writing", func(r *http.Request) { r.Method = "POST" }, inside, 405, "POST"},
		{"climbing", nil, "/" + token + "/../../etc/passwd", 404, "nothing"},
		{"climbing in a part", nil, "/" + token + "/data/../../../etc/passwd", 404, "no such part"},
		{"climbing with backslashes", nil, "/" + token + `/data/..\..\windows\win.ini`, 404, "no such part"},
		{"climbing in a run", nil, "/" + token + "/run/0/data/../../../etc/passwd", 404, "no such part"},
		{"a run that is none", nil, "/" + token + "/run/0/data/summary", 404, "no such part"},
		{"climbing to a run", nil, "/" + token + "/run/../data/summary", 404, "nothing"},
		{"a run without the token", nil, "/run/0/data/summary", 403, "token"},
		{"an unknown part", nil, "/" + token + "/data/table/<b>", 404, "no such part"},
		{"a part that fails", nil, "/" + token + "/data/panic", 500, "internal error"},
		{"a part with a blank", nil, "/" + token + "/data/table/a b", 200, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, body := ask(t, c.change, c.path)
			if res.StatusCode != c.status || !strings.Contains(body, c.says) {
				t.Errorf("status %d, %q; want %d and %q", res.StatusCode, body, c.status, c.says)
			}
			if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'; script-src 'self'") {
				t.Errorf("Content-Security-Policy: %q", policy)
			}
			if res.StatusCode != 200 && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") {
				t.Errorf("a refusal of type %q", res.Header.Get("Content-Type"))
			}
			if res.StatusCode != 200 && strings.Contains(body, token) {
				t.Errorf("a refusal tells the token")
			}
		})
	}
}

// TestRelative asks that no address of the page begins at the root, which is another server's where a proxy stands in front.
func TestRelative(t *testing.T) {
	res, _ := ask(t, nil, "/"+token)
	if location := res.Header.Get("Location"); res.StatusCode != 302 || location != token+"/" {
		t.Errorf("status %d, location %q", res.StatusCode, location)
	}
	_, body := ask(t, nil, "/"+token+"/")
	for _, bad := range []string{`="/`, `="http`} {
		if strings.Contains(body, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

func TestTokens(t *testing.T) {
	if a, b := web.NewToken(), web.NewToken(); a == b || len(a) < 20 {
		t.Errorf("tokens %q, %q", a, b)
	}
}
