package cli

import (
	"bottleneck/internal/model"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// sampleOptions are the flags that look at samples of every thread, apart from the report's tables.
type sampleOptions struct {
	source string
	choice report.SampleChoice
}

func (o *sampleOptions) addTo(f *pflag.FlagSet) {
	f.BoolVar(&o.choice.GIL, "gil", false,
		"print the functions of all threads behind the report: only samples that hold the GIL (without one: that run Python)")
	f.BoolVar(&o.choice.Idle, "idle", false, "print the functions of all threads behind the report: of threads that wait for work too")
}

// addSourceTo adds the flags of a command that prints a recorded session.
func (o *sampleOptions) addSourceTo(f *pflag.FlagSet) {
	f.StringVar(&o.source, "source", "", "print the text of `FILE` with the sampled time of each line instead of the report")
	o.addTo(f)
}

// writeSource prints one file with the time of its lines.
func (o *reportOptions) writeSource(w io.Writer, s *model.Session, text view.TextOptions) error {
	choice := o.samples.choice
	choice.Ranks = text.Ranks
	if !hasSamples(s) {
		return unusable(fmt.Errorf("--source: the input has no Python samples"))
	}
	file, near := view.SourceFile(s, o.samples.source, choice)
	if file == "" {
		return usage("--source: %s", whichFile(o.samples.source, near))
	}
	readSource(s, file)
	return view.WriteSource(w, s, file, choice, text)
}

// whichFile says why a name means no file.
func whichFile(name string, near []string) string {
	switch {
	case len(near) == 0:
		return fmt.Sprintf("no sample is in %q or in any other file", name)
	case strings.HasSuffix(near[0], "/"+strings.TrimLeft(name, "./")):
		return fmt.Sprintf("%q means several files; give more of the path: %s", name, strings.Join(near, ", "))
	}
	return fmt.Sprintf("no sample is in %q; files with samples: %s", name, strings.Join(near, ", "))
}

// writeSamples prints the functions of all threads where a flag asks for a choice of samples.
func (o *reportOptions) writeSamples(w io.Writer, s *model.Session, text view.TextOptions) error {
	choice := o.samples.choice
	if !choice.GIL && !choice.Idle {
		return nil
	}
	if !hasSamples(s) {
		return unusable(fmt.Errorf("--gil, --idle: the input has no Python samples"))
	}
	choice.Ranks = text.Ranks
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return view.WriteSamples(w, s, choice, text)
}

func hasSamples(s *model.Session) bool {
	for _, p := range s.Processes {
		if p.Samples.Len() > 0 {
			return true
		}
	}
	return false
}

// readSource reads a text that the session does not hold (few of libraries' are kept) from this machine, where the
// program ran here and the file is older than the recording.
func readSource(s *model.Session, file string) {
	host, err := os.Hostname()
	if s.Sources[file] != nil || s.Run == nil || err != nil || len(s.Processes) == 0 {
		return
	}
	for _, p := range s.Processes {
		if p.Host != host {
			return
		}
	}
	info, err := os.Stat(file)
	if err != nil || !strings.HasSuffix(file, ".py") || !info.Mode().IsRegular() || info.Size() > record.MaxSourceBytes ||
		model.Time(info.ModTime().UnixNano()) >= s.Run.Start {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	if s.Sources == nil {
		s.Sources = map[string]*model.Source{}
	}
	s.Sources[file] = &model.Source{Path: file, Lines: strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")}
}

// chooseSamples leaves in a session only the samples that an export is to hold. Formats of plain stacks leave out
// threads that wait for work; idle lets those count as blocked. The others tell the states apart and hold all.
func chooseSamples(s *model.Session, choice report.SampleChoice, format string) {
	plain := format == "folded" || format == "speedscope"
	for _, p := range s.Processes {
		sm := &p.Samples
		kept := 0
		for i := range sm.Len() {
			if choice.GIL && sm.Flags[i]&model.SampleRunsPython == 0 {
				continue
			}
			sm.Time[kept], sm.Thread[kept], sm.Stack[kept], sm.State[kept], sm.Flags[kept] = sm.Time[i], sm.Thread[i], sm.Stack[i],
				sm.State[i], sm.Flags[i]
			if choice.Idle && plain && sm.State[kept] == model.StateIdle {
				sm.State[kept] = model.StateBlocked
			}
			kept++
		}
		sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = sm.Time[:kept], sm.Thread[:kept], sm.Stack[:kept],
			sm.State[:kept], sm.Flags[:kept]
	}
}
