//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// snakeviz opens a profile of cProfile in both pages.
func (b *bench) snakeviz() error {
	path := filepath.Join(b.traces, "pstats/amazon_review_train.prof")
	python := filepath.Join(b.peers, "snakeviz/bin/python")
	for _, needed := range []string{path, python} {
		if _, err := os.Stat(needed); err != nil {
			return fmt.Errorf("%w: %s", errAbsent, needed)
		}
	}
	if err := b.ours("profile of cProfile, 1.1 MB", path, "calls", `document.querySelectorAll(".row").length > 10`); err != nil {
		return err
	}
	return b.theirs("snakeviz", "profile of cProfile, 1.1 MB", "snakeviz/"+url.QueryEscape(path), nil,
		`document.querySelectorAll("#chart path, #chart rect").length > 10`,
		func(port string) *exec.Cmd {
			return exec.Command(python, "-m", "snakeviz", "-s", "-H", "127.0.0.1", "-p", port, path)
		})
}

// speedscope opens a file of py-spy and a large trace in both pages.
func (b *bench) speedscope() error {
	folder := filepath.Join(b.peers, "node_modules/speedscope/dist/release")
	python := filepath.Join(b.peers, "snakeviz/bin/python")
	for _, needed := range []string{folder, python} {
		if _, err := os.Stat(needed); err != nil {
			return fmt.Errorf("%w: %s", errAbsent, needed)
		}
	}
	middle := filepath.Join(b.dir, "middle.json")
	if b.middle > 0 {
		if err := generate(middle, b.middle, filepath.Join(b.traces, smallTrace)); err != nil {
			return err
		}
		defer os.Remove(middle)
	}
	for _, file := range []struct{ what, path, view, drawn string }{
		{"samples of py-spy, 190 KB", filepath.Join(b.traces, "speedscope/pyspy_bpe_tokenizer.speedscope.json"), "flame-python",
			`document.querySelector("canvas")?.dataset.boxes > 5`},
		{"81 MB trace", filepath.Join(b.traces, smallTrace), "timeline", timelineDrawn},
		{fmt.Sprintf("%d MB trace", b.middle), middle, "timeline", timelineDrawn},
	} {
		path := file.path
		if path == middle && b.middle == 0 {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: %s", errAbsent, path)
		}
		if err := b.ours(file.what, path, file.view, file.drawn); err != nil {
			return err
		}
		site := filepath.Join(b.dir, "speedscope")
		if err := os.CopyFS(site, os.DirFS(folder)); err != nil && !os.IsExist(err) {
			return err
		}
		if err := unpackTo(filepath.Join(site, "opened.json"), path); err != nil {
			return err
		}
		if err := b.theirs("speedscope", file.what, "index.html#profileURL=opened.json", nil,
			`/went wrong/.test(document.body.innerText) || document.querySelector("canvas") && document.title !== "speedscope"`,
			func(port string) *exec.Cmd {
				return exec.Command(python, "-m", "http.server", "--bind", "127.0.0.1", "--directory", site, port)
			}); err != nil {
			return err
		}
		if err := os.RemoveAll(site); err != nil {
			return err
		}
	}
	return nil
}

// tensorboard opens a trace in both pages. The plugin's views wait for scripts of www.gstatic.com, and without them it shows its list of
// runs alone; that is what is waited for.
func (b *bench) tensorboard() error {
	path, python := filepath.Join(b.traces, smallTrace), filepath.Join(b.peers, "tensorboard/bin/python")
	for _, needed := range []string{path, python} {
		if _, err := os.Stat(needed); err != nil {
			return fmt.Errorf("%w: %s", errAbsent, needed)
		}
	}
	folder := filepath.Join(b.dir, "tensorboard")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := os.Symlink(absolute, filepath.Join(folder, "worker0.1.pt.trace.json.gz")); err != nil {
		return err
	}
	if err := b.ours("81 MB trace, overview", path, "verdict", `document.querySelector("main h1")`); err != nil {
		return err
	}
	loaded := func(address string) bool {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /data/plugin/pytorch_profiler/runs HTTP/1.0\r\nHost: %s\r\n\r\n", address)
		answer, _ := io.ReadAll(c)
		_, body, _ := strings.Cut(string(answer), "\r\n\r\n")
		var got struct {
			Runs    []string
			Loading bool
		}
		return json.Unmarshal([]byte(body), &got) == nil && len(got.Runs) > 0 && !got.Loading
	}
	const name = "TensorBoard's plugin, list of runs (views need www.gstatic.com)"
	return b.theirs(name, "81 MB trace, overview", "data/plugin/pytorch_profiler/index.html", loaded,
		`/Runs[^]*tensorboard/.test(document.body.innerText)`,
		func(port string) *exec.Cmd {
			return exec.Command(python, "-m", "tensorboard.main", "--logdir", folder, "--host", "127.0.0.1", "--port", port)
		})
}

// ours opens a view of a file in our page.
func (b *bench) ours(what, path, view, condition string) error {
	s, err := b.serve(path)
	if err != nil {
		return err
	}
	defer s.end()
	m, err := measure(s.address+"#/"+view, condition, "")
	if err != nil {
		return err
	}
	b.add("beside others, "+what+": ours", ms(m.drawn), "",
		fmt.Sprintf("%s sent, %s in the tab; served after %s", bytes(m.sent), bytes(m.memory), seconds(s.ready)))
	return nil
}

// theirs opens another tool's page that a command serves on a port, once it listens and is ready; ready may be nil.
func (b *bench) theirs(name, what, path string, ready func(address string) bool, condition string,
	command func(port string) *exec.Cmd) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	begin := time.Now()
	s := &served{command: command(strconv.Itoa(l.Addr().(*net.TCPAddr).Port))}
	if err := s.command.Start(); err != nil {
		return err
	}
	defer s.end()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		if time.Since(begin) > 30*time.Second {
			return fmt.Errorf("%s does not listen", name)
		}
		time.Sleep(20 * time.Millisecond)
	}
	for ready != nil && !ready(address) {
		if time.Since(begin) > 5*time.Minute {
			b.add("beside others, "+what+": "+name, "failed", "", "it is not ready after five minutes")
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	served := time.Since(begin)
	m, err := measure("http://"+address+"/"+path, condition, "document.body.innerText.slice(0, 200)")
	if err == nil && strings.Contains(string(m.result), "went wrong") {
		err = fmt.Errorf("after %s the page says %s", ms(m.drawn), m.result)
	}
	if err != nil {
		b.add("beside others, "+what+": "+name, "failed", "", err.Error())
		return nil
	}
	b.add("beside others, "+what+": "+name, ms(m.drawn), "",
		fmt.Sprintf("%s sent, %s in the tab; served after %s", bytes(m.sent), bytes(m.memory), seconds(served)))
	return nil
}

// unpackTo writes a file without its compression.
func unpackTo(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if filepath.Ext(from) != ".gz" {
		_, err = out.ReadFrom(in)
		return err
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(z)
	return err
}
