package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/page"
	"bottleneck/internal/ui"
)

// Source gives the parts of the page; *page.Page is one, *page.Runs one of several pages.
type Source interface {
	// Part makes a part by its name, as something that JSON can hold. An error that is page.ErrNoPart says that there is none.
	Part(name string) (any, error)
}

// Options say who may ask.
type Options struct {
	Token string   // the first part of every address
	Hosts []string // names of this machine, beside localhost and addresses
}

type server struct {
	source Source
	opt    Options
}

// Handler answers the page's requests below /TOKEN/.
func Handler(source Source, opt Options) http.Handler { return &server{source, opt} }

// Serve answers on l until ctx ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	// No answer has a limit of its own: a tunnel may be slow. Requests have, so that a silent client keeps nothing.
	s := &http.Server{Handler: h, ReadTimeout: 20 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	err := s.Serve(l)
	if errors.Is(err, http.ErrServerClosed) && ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serve the page: %w", err)
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	defer func() {
		if e := recover(); e != nil {
			http.Error(w, fmt.Sprintf("internal error: %v", e), http.StatusInternalServerError)
		}
	}()
	if status, why := s.refusal(r); why != "" {
		http.Error(w, why, status)
		return
	}
	path, ok := s.inside(r.URL.Path)
	if !ok {
		http.Error(w, "This address lacks the token, or has another server's. "+
			"The whole address is what `bottleneck view` printed last.", http.StatusForbidden)
		return
	}
	s.answer(w, r, path)
}

// files of the page by path.
var files = map[string]struct{ name, kind string }{
	"/":         {ui.IndexFile, "text/html; charset=utf-8"},
	"/page.js":  {ui.ScriptFile, "text/javascript; charset=utf-8"},
	"/page.css": {ui.StyleFile, "text/css; charset=utf-8"},
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, path string) {
	before := ""
	if number, rest, ok := page.RunPart(strings.TrimPrefix(path, "/")); ok { // a run of several has a page of its own beneath
		before, path = fmt.Sprintf("run/%d/", number), "/"+rest
	}
	if path == "" { // the page's addresses are relative to its folder, and so is this one: a proxy may have taken a part of the path away
		w.Header().Set("Location", s.opt.Token+"/")
		w.WriteHeader(http.StatusFound)
		return
	}
	if f, ok := files[path]; ok {
		w.Header().Set("Content-Type", f.kind)
		send(w, r, func(to writer) error { _, err := to.Write(ui.File(f.name)); return err })
		return
	}
	name, isPart := strings.CutPrefix(path, "/data/")
	if !isPart {
		http.Error(w, "There is nothing at this address.", http.StatusNotFound)
		return
	}
	part, err := s.source.Part(before + name)
	switch {
	case errors.Is(err, page.ErrNoPart):
		http.Error(w, "the session has no such part", http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		send(w, r, func(to writer) error { return json.NewEncoder(to).Encode(part) })
	}
}

type writer interface{ Write([]byte) (int, error) }

// send writes an answer, compressed where the browser takes that. A browser that goes away is no error.
func send(w http.ResponseWriter, r *http.Request, write func(writer) error) {
	w.Header().Add("Vary", "Accept-Encoding")
	if r.Method == http.MethodHead {
		return
	}
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_ = write(w)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err == nil {
		_ = write(z)
		_ = z.Close()
	}
}
