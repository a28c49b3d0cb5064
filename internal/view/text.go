package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"bottleneck/internal/analyse/tables"
	"bottleneck/internal/report"
	"bottleneck/internal/units"
)

// TextOptions says how the text report looks.
type TextOptions struct {
	Width    int      // columns; 0 = 100; never narrower than 60
	Color    bool     // ANSI colours
	Verbose  bool     // where each number comes from
	Sections []string // names of Sections, in the order to print; empty = those that have something to say
	All      bool     // every section, and every row
	RowLimit int      // rows of tables; 0 = a screenful, < 0 = all
	SortBy   string   // column of the operator table, in torch.profiler's words; "" = self CPU (or device) time
	Ranks    []int    // rows of these ranks only; empty = all
}

// Section is a part of the text report that can be asked for by name.
type Section struct {
	Name, Description string
	write             func(*printer)
	lead              bool                  // in full in the default report of a program too
	best              func(*printer) string // its best row, for which alone that report has room; "" without one
	extra             bool                  // only when asked for, or with All
	needs             string                // what an input must hold for it; "" where the description says it
}

// Sections are the parts of the text report in their usual order.
func Sections() []Section {
	sections := []Section{
		{Name: "verdict", Description: "the answer in one sentence, with place and saving", lead: true, write: (*printer).verdict},
		{Name: "environment", Description: "machine, software and limits", lead: true, write: (*printer).environment},
		{Name: "breakdown", Description: "where the step goes", lead: true, write: (*printer).breakdown},
		{Name: "run", Description: "what the whole run consists of: start, steps by kind, end", lead: true, write: (*printer).wholeRun,
			needs: "a run of steps"},
		{Name: "findings", Description: "causes with evidence, saving, fix and caveat", lead: true, write: (*printer).findings},
		{Name: "measured", Description: "fixes measured after the program's end", lead: true, write: (*printer).measured,
			needs: "measured fixes (run --measure-fixes)"},
		{Name: "gpu", Description: "what each GPU did", best: bestGPU, write: (*printer).gpu, needs: "work of a device"},
		{Name: "roofline", Description: "arithmetic against the device's rates, MFU", write: (*printer).roofline, extra: true,
			needs: "input shapes (record_shapes=True) of operators with device work"},
		{Name: "copies", Description: "copies by kind, and their bandwidth", write: (*printer).copies, extra: true,
			needs: "copies of a device"},
		{Name: "streams", Description: "device streams, their gaps and queues", write: (*printer).streams, extra: true,
			needs: "work of a device"},
		{Name: "sequences", Description: "kernel sequences that recur", write: (*printer).sequences, extra: true,
			needs: "series of kernels that an operator launched more than once"},
		{Name: "step-parts", Description: "traced steps in exclusive parts", write: (*printer).stepParts, extra: true,
			needs: "a trace with device work"},
		{Name: "critical-path", Description: "what each stretch of one traced step waited for", best: bestPath,
			write: (*printer).criticalPath, needs: "a trace with device work"},
		{Name: "operators", Description: "top operators", best: bestOperator, write: (*printer).operators, needs: "traced operators"},
		{Name: "kernels", Description: "top device kernels", best: bestKernel, write: (*printer).kernels, needs: "work of a device"},
		{Name: "python", Description: "top Python lines and functions", best: bestLine, write: (*printer).python, needs: "stack samples"},
		{Name: "native", Description: "top functions of C and C++ libraries, and the Python lines that called them", lead: true,
			write: (*printer).native, needs: "native frames (run --native)"},
		{Name: "calls", Description: "exact call counts, where they were recorded", lead: true, write: (*printer).calls,
			needs: "exact call counts"},
		{Name: "lines", Description: "hits and time of each line of chosen functions, where they were counted", lead: true,
			write: (*printer).countedLines, needs: "counted lines (run --lines FUNC)"},
		{Name: "actions", Description: "what a trainer's actions and named regions took", best: bestAction, write: (*printer).actions,
			needs: "actions of a trainer or named regions"},
		{Name: "workers", Description: "DataLoaders and their workers", best: bestLoader, write: (*printer).workers, needs: "DataLoaders"},
		{Name: "steps", Description: "step times by kind, and the phases of the run", best: bestStep, write: (*printer).steps},
		{Name: "ranks", Description: "ranks and who waits for whom", best: bestRank, write: (*printer).ranks, needs: "several ranks"},
		{Name: "communication", Description: "collectives", best: bestCollective, write: (*printer).communication, needs: "collectives"},
		{Name: "memory", Description: "memory peaks, and what processes held over time", lead: true, write: (*printer).memory,
			needs: "processes that a run looked at, allocations (profile_memory=True) or a memory snapshot"},
		{Name: "system", Description: "system time, page faults, switches and disks, by process and step", write: (*printer).system,
			extra: true, needs: "processes that a run looked at while they took steps without a trace"},
		{Name: "contents", Description: "tables that other tools wrote, as they stand", lead: true, write: (*printer).contents,
			needs: "a table of another tool's file"},
		{Name: "cost", Description: "what bottleneck itself cost", lead: true, write: (*printer).cost, needs: "a run of bottleneck"},
		{Name: "files", Description: "files read, and what is wrong with them", lead: true, write: (*printer).files},
		{Name: "next", Description: "commands to look further", lead: true, write: (*printer).next},
		{Name: "packages", Description: "versions of the packages that matter", write: (*printer).packages, extra: true},
	}
	at := slices.IndexFunc(sections, func(s Section) bool { return s.Name == "cost" })
	for _, a := range tables.All() {
		sections = slices.Insert(sections, at, Section{Name: a.Name, Description: units.LowerFirst(a.Title),
			write: func(p *printer) { p.general(&a) }, extra: true, needs: a.Needs})
		at++
	}
	return sections
}

// WriteText writes the report for a terminal or a file. Sections that have nothing to say are left out unless asked for.
func WriteText(w io.Writer, r *report.Report, opt TextOptions) error {
	chosen, err := chooseSections(opt)
	if err != nil {
		return err
	}
	p := newPrinter(report.PrintableCopy(r), opt)
	for _, s := range chosen {
		if p.brief() && !s.lead {
			continue
		}
		p.section = s.Name
		before := p.out.Len()
		s.write(p)
		if p.asked() && p.out.Len() == before {
			p.wrap("", "  ", fmt.Sprintf("%s: nothing to show; the input does not hold %s.", s.Name, cmp.Or(s.needs, s.Description)))
		}
	}
	return p.writeTo(w, "report")
}

// Shown are the names of the sections that the text will have.
func (opt TextOptions) Shown() []string {
	chosen, err := chooseSections(opt)
	if err != nil {
		return nil
	}
	names := make([]string, len(chosen))
	for i, s := range chosen {
		names[i] = s.Name
	}
	return names
}

func chooseSections(opt TextOptions) ([]Section, error) {
	all := Sections()
	if len(opt.Sections) == 0 {
		return slices.DeleteFunc(all, func(s Section) bool { return s.extra && !opt.All && s.Name != report.EventsSection }), nil
	}
	var chosen []Section
	for _, name := range opt.Sections {
		i := slices.IndexFunc(all, func(s Section) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no section %q in a report; there are: %s", name, sectionNames(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func sectionNames(all []Section) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}
