package cli

import (
	"io"
	"strings"

	"github.com/spf13/pflag"

	"bottleneck/internal/model"
	"bottleneck/internal/view"
)

// gpuOptions are the flags that print nvprof's tables instead of the report.
type gpuOptions struct{ trace, gpuSummary, apiSummary, metrics bool }

func (o *gpuOptions) addTo(f *pflag.FlagSet) {
	f.BoolVar(&o.trace, "gpu-trace", false,
		"print one row for each kernel and copy, as nvprof --print-gpu-trace does, instead of the report")
	f.BoolVar(&o.gpuSummary, "gpu-summary", false,
		"print kernels and copies by name, as nvprof --print-gpu-summary does, instead of the report")
	f.BoolVar(&o.apiSummary, "api-summary", false,
		"print calls of the device's runtime by name, as nvprof --print-api-summary does, instead of the report")
	f.BoolVar(&o.metrics, "analysis-metrics", false,
		"print the hardware counters of kernels that the files hold and what they mean (nvprof, Nsight Compute, rocprof, CUPTI's ranges), "+
			"instead of the report")
	f.SetNormalizeFunc(nvprofNames(f.GetNormalizeFunc()))
}

// nvprofNames lets nvprof's own names of its tables stand for ours.
func nvprofNames(before func(*pflag.FlagSet, string) pflag.NormalizedName) func(*pflag.FlagSet, string) pflag.NormalizedName {
	return func(f *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "print-gpu-trace", "print-gpu-summary", "print-api-summary":
			name = strings.TrimPrefix(name, "print-")
		}
		return before(f, name)
	}
}

func (o *gpuOptions) any() bool { return o.trace || o.gpuSummary || o.apiSummary || o.metrics }

// write prints the tables that were asked for, each with the rows that the options let through.
func (o *gpuOptions) write(w io.Writer, s *model.Session, text view.TextOptions) error {
	for _, table := range []struct {
		wanted bool
		write  func(io.Writer, *model.Session, view.TextOptions) error
	}{{o.trace, view.GPUTrace}, {o.gpuSummary, view.GPUSummary}, {o.apiSummary, view.APISummary}, {o.metrics, view.DeviceMetrics}} {
		if !table.wanted {
			continue
		}
		if err := table.write(w, s, text); err != nil {
			return unusable(err)
		}
	}
	return nil
}
