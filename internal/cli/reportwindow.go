package cli

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// windowOptions are the flags that make a report of a part of the recording.
type windowOptions struct{ steps, from, to string }

func (o *windowOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.steps, "step", "", "report these `STEPS` only, like 3 or 3,5-7, by the numbers that the recording gives them")
	f.StringVar(&o.from, "from", "", "report only what begins at `TIME` after the recording's start or later, like 1.5s or 200ms")
	f.StringVar(&o.to, "to", "", "report only what begins before `TIME` after the recording's start")
}

// window reads the flags.
func (o *windowOptions) window() (analyse.Window, error) {
	var w analyse.Window
	var err error
	if w.Steps, err = parseSteps(o.steps); err != nil {
		return w, err
	}
	if w.From, err = parseMoment("--from", o.from); err != nil {
		return w, err
	}
	if w.To, err = parseMoment("--to", o.to); err != nil {
		return w, err
	}
	if o.to != "" && w.To <= w.From {
		return w, usage("--to %s is not after --from %s", o.to, orZero(o.from))
	}
	return w, nil
}

func orZero(text string) string {
	if text == "" {
		return "0"
	}
	return text
}

// maxStepRange bounds how many steps one range names.
const maxStepRange = 1 << 20

// parseSteps reads "3,5-7".
func parseSteps(text string) ([]int64, error) {
	var out []int64
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		low, high, isRange := strings.Cut(part, "-")
		from, err := strconv.ParseInt(low, 10, 64)
		to := from
		if err == nil && isRange {
			to, err = strconv.ParseInt(high, 10, 64)
		}
		if err != nil || to < from || to-from > maxStepRange {
			return nil, usage("--step: %q is no step or range of steps like 5-7", part)
		}
		for n := from; n <= to; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}

// parseMoment reads a time after the start: a number of seconds, or a number with its unit.
func parseMoment(flag, text string) (model.Dur, error) {
	if text == "" {
		return 0, nil
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s < math.MaxInt64/2e9 {
		return model.Dur(s * 1e9), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usage("%s: %q is no time like 1.5s, 200ms or 3", flag, text)
	}
	return model.Dur(d), nil
}
