package view

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"bottleneck/internal/analyse/replay"
)

// WhatIfSchema is the name and version of the answer's document.
const WhatIfSchema = "bottleneck.what-if/1"

// WhatIf is the answer to "how long would a step take if …?".
type WhatIf struct {
	Schema string `json:"schema"`
	Tool   string `json:"tool,omitempty"`
	// Question is the change in words.
	Question string `json:"question"`
	Basis    string `json:"basis"` // "unprofiled steps" or "traced steps"
	Steps    int    `json:"steps"`
	// BeforeMs and AfterMs are the mean step as replayed, without and with the change.
	BeforeMs   float64 `json:"before_ms"`
	AfterMs    float64 `json:"after_ms"`
	SavedMs    float64 `json:"saved_ms"`
	SavedShare float64 `json:"saved_share"`
	// Error is the unmodified replay against the recording, Slack the share of the recorded steps that nothing explains.
	Error float64      `json:"replay_error"`
	Slack float64      `json:"slack"`
	Parts []WhatIfPart `json:"parts"`
	Notes []string     `json:"notes"`
	// Measured are prices that no replay can know; absent where they were not asked for.
	Measured *Measured `json:"measured,omitempty"`
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
	w := &WhatIf{Schema: WhatIfSchema, Question: question, Basis: "traced steps", Steps: a.Steps, BeforeMs: a.Before / 1e6, AfterMs: a.After / 1e6,
		Error: r.Error(), Slack: r.Slack(), Parts: []WhatIfPart{}, Notes: []string{}}
	if r.Unprofiled() {
		w.Basis = "unprofiled steps"
	} else {
		w.Notes = append(w.Notes, "times are of traced steps: tracing slows the launching side")
	}
	w.SavedMs = w.BeforeMs - w.AfterMs
	if w.BeforeMs > 0 {
		w.SavedShare = w.SavedMs / w.BeforeMs
	}
	if w.Error > 0.02 || w.Error < -0.02 || w.Slack > 0.02 {
		w.Notes = append(w.Notes, fmt.Sprintf("the unmodified replay is %s off the recording and %s of the steps wait for nothing that was recorded: the answer is as uncertain",
			Percent(max(w.Error, -w.Error)), Percent(w.Slack)))
	}
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

// WhatIfText is the answer as text, for terminals.
func WhatIfText(w *WhatIf) string {
	var b strings.Builder
	fmt.Fprintf(&b, "What if: %s\n\n", printable(w.Question))
	verb, amount, share := "saves", w.SavedMs, w.SavedShare
	if amount < 0 {
		verb, amount, share = "costs", -amount, -share
	}
	fmt.Fprintf(&b, "  a step takes %s instead of %s: %s %s a step (%s)\n", Milliseconds(w.AfterMs), Milliseconds(w.BeforeMs), verb, Milliseconds(amount), Percent(share))
	fmt.Fprintf(&b, "  replay of %d %s; unmodified it is %s off the recording, and %s of the steps is slack\n\n", w.Steps, w.Basis, Percent(max(w.Error, -w.Error)), Percent(w.Slack))
	fmt.Fprintf(&b, "  %-44s %11s %11s\n", "where the step goes", "before", "after")
	for _, p := range w.Parts {
		if max(p.BeforeMs, p.AfterMs) < minWhatIfPart*w.BeforeMs {
			continue
		}
		name := p.Part
		if p.Of != "" {
			name += ", " + p.Of
		}
		fmt.Fprintf(&b, "  %-44s %11s %11s\n", clip(name, 44), Milliseconds(p.BeforeMs), Milliseconds(p.AfterMs))
	}
	for _, n := range w.Notes {
		fmt.Fprintf(&b, "  ! %s\n", n)
	}
	if w.Measured != nil {
		b.WriteString("\n" + MeasuredText(w.Measured))
	}
	return b.String()
}
