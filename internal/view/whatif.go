package view

import (
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WhatIfSchema is the name and version of the answer's document.
const WhatIfSchema = "bottleneck.what-if/1"

// WhatIf is the answer to "how long would a step take if …?".
type WhatIf struct {
	Schema string `json:"schema"`
	Tool   string `json:"tool,omitempty"`
	// Question is the change in words.
	Question string `json:"question"`
	// Basis is what was replayed: "unprofiled steps", "traced steps", "warm-up steps", "sampled run" or "traced run".
	Basis string `json:"basis"`
	// Unit is what times are of: "step", or "run" where no steps were recorded.
	Unit  string `json:"unit"`
	Steps int    `json:"steps"`
	// Rank is whose steps they are, absent without ranks; Ranks is how many were replayed together.
	Rank  *int `json:"rank,omitempty"`
	Ranks int  `json:"ranks"`
	// Coverage is the share of the run that such steps last, of traced ones the share of what was traced; 0 unknown.
	Coverage float64 `json:"coverage"`
	// BeforeMs and AfterMs are the mean step as replayed, without and with the change.
	BeforeMs   float64 `json:"before_ms"`
	AfterMs    float64 `json:"after_ms"`
	SavedMs    float64 `json:"saved_ms"`
	SavedShare float64 `json:"saved_share"`
	// NamedMs is the time of a mean step in all that the question scales, on any thread, stream or worker, waited for or not.
	NamedMs float64 `json:"named_ms"`
	// Error is the unmodified replay against the recording, Slack the share of the recorded steps that nothing explains.
	Error float64      `json:"replay_error"`
	Slack float64      `json:"slack"`
	Parts []WhatIfPart `json:"parts"`
	Notes []string     `json:"notes"`
	// Measured are prices that no replay can know; absent where they were not asked for.
	Measured *report.Measured `json:"measured,omitempty"`
}

// WhatIfPart is a part of the mean step before and after.
type WhatIfPart struct {
	Part     string  `json:"part"`
	Of       string  `json:"of,omitempty"` // a kind within the part
	BeforeMs float64 `json:"before_ms"`
	AfterMs  float64 `json:"after_ms"`
}

// BuildWhatIf makes the document of an answer.
func BuildWhatIf(r *replay.Session, question string, a *replay.Answer) *WhatIf {
	w := &WhatIf{Schema: WhatIfSchema, Question: question, Basis: r.Basis(), Unit: "step", Steps: a.Steps, Rank: report.RankPtr(a.Rank),
		Ranks: a.Ranks, Coverage: a.Coverage, BeforeMs: a.Before / 1e6, AfterMs: a.After / 1e6, NamedMs: a.Named / 1e6, Error: r.Error(),
		Slack: r.Slack(), Parts: []WhatIfPart{}, Notes: []string{}}
	if !r.PerStep() {
		w.Unit = "run"
	}
	w.SavedMs = w.BeforeMs - w.AfterMs
	if w.BeforeMs > 0 {
		w.SavedShare = w.SavedMs / w.BeforeMs
	}
	w.notes(r, a)
	index := map[[2]string]int{}
	per := 1e6 * float64(max(a.Steps, 1))
	for side, parts := range [][]replay.Part{a.PartsBefore, a.PartsAfter} {
		for _, p := range parts {
			key := [2]string{p.Name, p.Of}
			i, ok := index[key]
			if !ok {
				i = len(w.Parts)
				index[key] = i
				w.Parts = append(w.Parts, WhatIfPart{Part: p.Name, Of: p.Of})
			}
			if side == 0 {
				w.Parts[i].BeforeMs = p.Time / per
			} else {
				w.Parts[i].AfterMs = p.Time / per
			}
		}
	}
	return w
}

// nothingSaved is the share of a step under which a change saves nothing.
const nothingSaved = 0.0005

// notes says what limits an answer.
func (w *WhatIf) notes(r *replay.Session, a *replay.Answer) {
	note := func(format string, args ...any) { w.Notes = append(w.Notes, fmt.Sprintf(format, args...)) }
	if strings.HasPrefix(w.Basis, "traced") {
		note("times are of the %s: tracing slows the launching side", w.Basis)
	}
	if w.NamedMs > 0 && w.SavedShare < nothingSaved && w.SavedShare > -nothingSaved {
		note("%s a %s are spent in what is changed, but all of it beside what the %s waits for",
			units.Milliseconds(w.NamedMs), w.Unit, w.Unit)
	}
	if a.LongestRank != a.Rank && a.Longest > (1+nothingSaved)*a.After {
		note("a %s of rank %d then takes %s, the longest of all ranks", w.Unit, a.LongestRank, units.Milliseconds(a.Longest/1e6))
	}
	if n, ranks := r.LeftOut(), r.Ranks(); n > 0 {
		note("%s not replayed: of each rank one is, and of %d ranks at most", countedAre(n, "trace"), replay.MaxTraces)
	} else if ranks > a.Ranks {
		note("of %d ranks %d are in this replay: the others are not seen to wait for them, or hold no such steps", ranks, a.Ranks)
	}
	if w.Error > 0.02 || w.Error < -0.02 || w.Slack > 0.02 {
		note(
			"the unmodified replay is %s off the recording and %s of the %s wait for nothing that was recorded: the answer is as uncertain",
			units.Percent(max(w.Error, -w.Error)), units.Percent(w.Slack), w.Basis)
	}
}

// countedAre is a number of things with the verb for it.
func countedAre(n int, word string) string {
	if n == 1 {
		return units.Counted(n, word) + " is"
	}
	return units.Counted(n, word) + " are"
}

// WriteWhatIfJSON writes the document of an answer, one object, indented, with a final newline.
func WriteWhatIfJSON(w io.Writer, doc *WhatIf) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("write what-if document: %w", err)
	}
	return nil
}

// minWhatIfPart is the share of a step under which a part is not printed.
const minWhatIfPart = 0.005

// WhatIfSentence is the answer in one sentence.
func WhatIfSentence(w *WhatIf) string {
	what, each := "a step", " a step"
	if w.Unit == "run" {
		what, each = "the run", ""
	}
	if w.Rank != nil && w.Ranks > 1 {
		what += fmt.Sprintf(" of rank %d", *w.Rank)
	}
	verb, amount, share := "saves", w.SavedMs, w.SavedShare
	if amount < 0 {
		verb, amount, share = "costs", -amount, -share
	}
	if share < nothingSaved {
		return fmt.Sprintf("%s takes %s as before: nothing is saved", what, units.Milliseconds(w.AfterMs))
	}
	return fmt.Sprintf("%s takes %s instead of %s: %s %s%s (%s)",
		what, units.Milliseconds(w.AfterMs), units.Milliseconds(w.BeforeMs), verb, units.Milliseconds(amount), each, units.Percent(share))
}

// WhatIfText is the answer as text, for terminals.
func WhatIfText(w *WhatIf) string {
	var b strings.Builder
	fmt.Fprintf(&b, "What if: %s\n\n", units.Printable(w.Question))
	fmt.Fprintf(&b, "  %s\n", WhatIfSentence(w))
	fmt.Fprintf(&b, "  replay of %s; unmodified it is %s off the recording, and %s of the %s is slack\n\n", w.replayed(),
		units.Percent(max(w.Error, -w.Error)), units.Percent(w.Slack), w.Unit)
	fmt.Fprintf(&b, "  %-44s %11s %11s\n", "where the "+w.Unit+" goes", "before", "after")
	for _, p := range w.Parts {
		if max(p.BeforeMs, p.AfterMs) < minWhatIfPart*w.BeforeMs {
			continue
		}
		name := p.Part
		if p.Of != "" {
			name += ", " + p.Of
		}
		fmt.Fprintf(&b, "  %-44s %11s %11s\n", units.Clip(name, 44), units.Milliseconds(p.BeforeMs), units.Milliseconds(p.AfterMs))
	}
	for _, n := range w.Notes {
		fmt.Fprintf(&b, "  ! %s\n", n)
	}
	if w.Measured != nil {
		b.WriteString("\n" + report.MeasuredText(w.Measured))
	}
	return b.String()
}

// replayed says what was replayed and how much of the run it stands for.
func (w *WhatIf) replayed() string {
	text := "the " + w.Basis
	if w.Unit == "step" {
		text = fmt.Sprintf("%d %s", w.Steps, w.Basis)
		if w.Steps == 1 {
			text = strings.TrimSuffix(text, "s")
		}
	}
	if w.Ranks > 1 {
		text += fmt.Sprintf(" of each of %d ranks", w.Ranks)
	}
	switch {
	case w.Coverage <= 0:
	case strings.HasPrefix(w.Basis, "traced"):
		text += fmt.Sprintf(", %s of what was traced", units.Percent(w.Coverage))
	case w.Unit == "step":
		text += fmt.Sprintf(", which stand for %s of the run", units.Percent(w.Coverage))
	}
	return text
}
