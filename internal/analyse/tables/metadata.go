package tables

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// traceMetadata is what stands in a trace's header: what the program or --metadata added (add_metadata,
// add_metadata_json) first, then what the profiler writes itself.
var traceMetadata = Analysis{
	Name: "metadata", Title: "Metadata of the traces", Aside: "of their headers; what was added comes first", Needs: "a header",
	Columns: []Column{{"key", UnitText}, {"value", UnitJSON}},
	Rows:    metadataRows,
}

// profilerKeys are keys that PyTorch's profiler and Kineto write themselves, from 1.8 to 2.15.
var profilerKeys = map[string]bool{
	"schemaVersion": true, "baseTimeNanoseconds": true, "displayTimeUnit": true, "traceName": true, "trace_id": true,
	"trace_format_version": true, "deviceProperties": true, "computeProperties": true, "distributedInfo": true, "host_name": true,
	"nccl_version": true, "record_shapes": true, "profile_memory": true, "with_stack": true, "with_flops": true, "with_modules": true,
	"cuda_runtime_version": true, "cuda_driver_version": true, "cupti_version": true, "hip_runtime_version": true,
	"hip_driver_version": true, "otherData": true, "metadata": true,
}

func metadataRows(t *model.Trace, _ *model.Strings) [][]Cell {
	keys := slices.SortedFunc(maps.Keys(t.Header.Metadata), func(a, b string) int {
		rank := func(key string) int {
			if profilerKeys[key] {
				return 1
			}
			return 0
		}
		return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
	})
	rows := make([][]Cell, 0, len(keys))
	for _, key := range keys {
		rows = append(rows, []Cell{textCell(key), textCell(t.Header.Metadata[key])})
	}
	return rows
}
