package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// Format is one form in which a session can leave.
type Format struct {
	Name        string
	Description string // one line, for `export --list`
	Suffix      string // usual ending of the file's name, with the dot
	// Write streams the form to w. What the session does not hold for it is an *UnavailableError.
	Write func(ctx context.Context, s *model.Session, w io.Writer, opt Options) error
	// WriteDir is set instead where the form is a directory of files; Write then says so in an error.
	WriteDir func(ctx context.Context, s *model.Session, dir string, opt Options) error
}

// Options are the choices of all formats; each uses those that mean something to it.
type Options struct {
	// Path is where the output goes, where that is known: formats with several forms choose by its suffix as torch does.
	Path string
	// Device is the device of a memory timeline ("cuda:0", "cpu"); "" is the first one that has memory events.
	Device string
	// Metric is what stacks are weighted by: one of StackMetrics; "" is self_cpu_time_total.
	Metric string
	// Rank limits the output to one rank's traces; model.NoRank is all of them.
	Rank int
	// Worker names the process in the files of a directory; "" is <host>_<process>.
	Worker string
	// Gzip compresses the files of a directory.
	Gzip bool
	// GroupByInputShapes, GroupByStackN and GroupByModule split the rows of key averages.
	GroupByInputShapes bool
	GroupByStackN      int
	GroupByModule      bool
	// SortBy orders key averages by one of torch's sort keys, largest first; "" keeps the order of appearance.
	SortBy string
	// RowLimit cuts key averages; 0 or less writes all.
	RowLimit int
	// Version is of bottleneck; Source is how the user named what is exported. A page shows both.
	Version, Source string
}

// UnavailableError says that a session holds nothing for a format, and how to record what it needs.
type UnavailableError struct{ Format, Need string }

// Error names the format and what it needs.
func (e *UnavailableError) Error() string {
	return "export --to " + e.Format + ": nothing to write: " + e.Need
}

var formats []Format

// register adds a format; the files of this package call it from their init.
func register(f Format) { formats = append(formats, f) }

// Formats lists all formats by name.
func Formats() []Format {
	all := slices.Clone(formats)
	slices.SortFunc(all, func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// ErrUnknownFormat is returned by Find, wrapped with the names that exist.
var ErrUnknownFormat = errors.New("unknown format")

// Find gives the format of that name.
func Find(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("%w %q: choose one of %s", ErrUnknownFormat, name, strings.Join(names, ", "))
}

// buffered runs f with a buffered writer around w and flushes it; write errors surface at the flush.
func buffered(w io.Writer, f func(*bufio.Writer) error) error {
	b := bufio.NewWriterSize(w, 1<<18)
	if err := f(b); err != nil {
		return err
	}
	return b.Flush()
}
