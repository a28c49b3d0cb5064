package export

import (
	"bottleneck/internal/model"
	"bottleneck/internal/page"
	"bottleneck/internal/report"
	"bottleneck/internal/ui"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"

	"github.com/klauspost/compress/gzip"
)

// writeHTML writes the page of a session.
func writeHTML(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	return writePage(ctx, pageOf(s, opt), w)
}

// writeHTMLDiff writes the page of the later session with what differs from the earlier one, as `view --before` shows it.
func writeHTMLDiff(ctx context.Context, before, after *model.Session, w io.Writer, opt Options) error {
	if opt.Diff == nil {
		return errors.New("the page of two sessions needs their comparison")
	}
	p := pageOf(after, opt)
	p.Compare(opt.Diff, before)
	return writePage(ctx, p, w)
}

func pageOf(s *model.Session, opt Options) *page.Page {
	return page.New(s, report.Build(s, report.Options{Version: opt.Version, Path: opt.Source, MaxRows: page.MaxRows}))
}

// writePage writes a page with all its parts. Script and style stand in the file and are allowed by their hashes alone, so that
// nothing else in it can run; the parts are compressed and are no script.
func writePage(ctx context.Context, p *page.Page, w io.Writer) error {
	script, style := ui.File(ui.ScriptFile), ui.File(ui.StyleFile)
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data: blob:; base-uri 'none'; form-action 'none'",
		hash(script), hash(style))
	text := replaceOnce(ui.File(ui.IndexFile), ui.StyleLink, "<style>"+string(style)+"</style>")
	text = replaceOnce(text, ui.Head, ui.Head+"\n<meta http-equiv=\"Content-Security-Policy\" content=\""+html.EscapeString(policy)+"\">")
	before, after, _ := bytes.Cut(text, []byte(ui.ScriptLink))
	// One compressor for all parts: there are thousands of tiles, and making it takes longer than what most of them hold.
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestCompression)
	if err != nil {
		return err
	}
	return buffered(w, func(out *bufio.Writer) error {
		out.Write(before)
		for _, name := range p.Embedded() {
			if err := ctx.Err(); err != nil {
				return err
			}
			part, err := p.Part(name)
			if err != nil {
				return err
			}
			if err := embed(out, z, name, part); err != nil {
				return err
			}
		}
		out.WriteString("<script>")
		out.Write(script)
		out.WriteString("</script>")
		_, err := out.Write(after)
		return err
	})
}

// embed writes one part as a block of data, which no browser runs.
func embed(out *bufio.Writer, z *gzip.Writer, name string, part any) error {
	fmt.Fprintf(out, "<script type=\"application/gzip\" data-part=\"%s\">", html.EscapeString(name))
	packed := base64.NewEncoder(base64.StdEncoding, out)
	z.Reset(packed)
	if err := json.NewEncoder(z).Encode(part); err != nil {
		return fmt.Errorf("part %s: %w", name, err)
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	_, err := out.WriteString("</script>\n")
	return err
}

// hash is what a Content-Security-Policy calls a script or style by.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func replaceOnce(text []byte, old, new string) []byte {
	return bytes.Replace(text, []byte(old), []byte(new), 1)
}
