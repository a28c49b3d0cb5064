package report

// Roofline compares one trace's matrix products, convolutions and attention with what its device could do.
type Roofline struct {
	Rank   *int   `json:"rank,omitempty"`
	Device string `json:"device,omitempty"` // whose peak rates are used; absent: not known
	// MFU is flops ÷ (peak rate of their format × span), 0..1; absent where the device's rates are not known.
	MFU          *float64      `json:"mfu,omitempty"`
	Flops        int64         `json:"flops"` // one multiply-add is two
	SpanUs       float64       `json:"span_us"`
	KernelUs     float64       `json:"kernel_us"`     // of all kernels but collectives
	CoveredShare float64       `json:"covered_share"` // of kernel_us: kernels of operators with a formula
	Ops          []RooflineRow `json:"ops"`
}

// RooflineRow is one operator with one set of shapes. Rates are in TFLOP/s.
type RooflineRow struct {
	Name       string   `json:"name"`
	Shapes     string   `json:"shapes,omitempty"`
	Format     string   `json:"format"`
	Formula    string   `json:"formula"`
	Count      int64    `json:"count"`
	Flops      int64    `json:"flops"`
	Bytes      *int64   `json:"bytes,omitempty"` // least memory traffic: every operand once
	DeviceUs   float64  `json:"device_us"`
	TFLOPs     float64  `json:"tflops"`
	Peak       *float64 `json:"peak_tflops,omitempty"`
	Attainable *float64 `json:"attainable_tflops,omitempty"` // the lower of the peak and what memory traffic allows
	Efficiency *float64 `json:"efficiency,omitempty"`        // tflops ÷ attainable_tflops
}

// CopyRow is all copies or sets of one kind on one device.
type CopyRow struct {
	Rank       *int     `json:"rank,omitempty"`
	Device     int      `json:"device"`
	Name       string   `json:"name"`
	Direction  string   `json:"direction,omitempty"`
	Pageable   bool     `json:"pageable"`
	Count      int64    `json:"count"`
	Bytes      *int64   `json:"bytes,omitempty"` // of the copies whose size is known
	Us         float64  `json:"us"`
	GBs        *float64 `json:"gb_s,omitempty"`
	ExposedUs  float64  `json:"exposed_us"`   // while neither kernels nor collectives ran
	HostWaitUs float64  `json:"host_wait_us"` // in calls that return only when the copy is done
	Where      Where    `json:"where"`        // of the longest
}

// BandwidthRow is the bandwidth of one kind of copies, as the collector measured it.
type BandwidthRow struct {
	Rank    *int    `json:"rank,omitempty"`
	Kind    string  `json:"kind"`
	MaxGBs  float64 `json:"max_gb_s"`
	MeanGBs float64 `json:"mean_gb_s"` // over the time during which such copies ran
}

// StreamRow is one device stream; its gaps are split by what the next work waited for.
type StreamRow struct {
	Rank         *int    `json:"rank,omitempty"`
	Device       int     `json:"device"`
	Stream       int64   `json:"stream"`
	Count        int64   `json:"count"`
	BusyUs       float64 `json:"busy_us"`
	HostWaitUs   float64 `json:"host_wait_us"`   // not launched yet
	KernelWaitUs float64 `json:"kernel_wait_us"` // launched, gaps below 30 µs
	OtherWaitUs  float64 `json:"other_wait_us"`  // launched, longer gaps
	QueueMax     int     `json:"queue_max"`      // pieces of work launched and not started
	QueueMean    float64 `json:"queue_mean"`
	QueueFullUs  float64 `json:"queue_full_us"` // a launch blocks meanwhile
}

// SequenceRow is a series of kernels that one operator launches again and again.
type SequenceRow struct {
	Rank     *int     `json:"rank,omitempty"`
	Op       string   `json:"op"`
	Kernels  []string `json:"kernels"` // the first of them, in order
	Length   int      `json:"length"`
	Count    int64    `json:"count"`
	DeviceUs float64  `json:"device_us"`
	CPUUs    float64  `json:"cpu_us"` // of the operator
	Where    Where    `json:"where"`
}

// StepPartsRow is one traced step cut into exclusive parts, as the TensorBoard plugin does; an instant belongs to the first
// part that applies, in the order of the fields.
type StepPartsRow struct {
	Rank            *int    `json:"rank,omitempty"`
	Step            int64   `json:"step"`
	Us              float64 `json:"us"`
	KernelUs        float64 `json:"kernel_us"`
	MemcpyUs        float64 `json:"memcpy_us"`
	MemsetUs        float64 `json:"memset_us"`
	CommunicationUs float64 `json:"communication_us"`
	RuntimeUs       float64 `json:"runtime_us"`
	DataLoaderUs    float64 `json:"data_loader_us"`
	CPUOpUs         float64 `json:"cpu_op_us"`
	OtherUs         float64 `json:"other_us"`
	Utilisation     float64 `json:"gpu_utilisation"` // share of the step during which a kernel runs
}

// RankShare is the part of the critical path that lies on one rank.
type RankShare struct {
	Rank  int     `json:"rank"`
	Us    float64 `json:"us"`
	Share float64 `json:"share"`
}

// MemoryRow is one device's memory in the traced time. Without total (absolute false) levels count from the trace's start.
type MemoryRow struct {
	Rank           *int    `json:"rank,omitempty"`
	Device         string  `json:"device"`
	Absolute       bool    `json:"absolute"`
	PeakBytes      int64   `json:"peak_bytes"`
	PeakReserved   *int64  `json:"peak_reserved_bytes,omitempty"`
	PeakAtUs       float64 `json:"peak_at_us"` // from the trace's start
	PeakOp         string  `json:"peak_op,omitempty"`
	PeakPhase      string  `json:"peak_phase,omitempty"`
	Allocations    int64   `json:"allocations"`
	AllocatedBytes int64   `json:"allocated_bytes"`
	UnfreedBytes   *int64  `json:"unfreed_bytes,omitempty"` // allocated in the trace and not freed in it; absent: not known, or 0
	// Holders is what was alive at the peak, by the operator that allocated it; the rest of the peak was there before.
	Holders  []HolderRow   `json:"holders"`
	Timeline []MemoryPoint `json:"timeline"` // thinned; keeps maxima
}

// HolderRow is memory that one operator allocated and that was alive at the peak.
type HolderRow struct {
	Op     string `json:"op,omitempty"`
	Phase  string `json:"phase,omitempty"`
	Bytes  int64  `json:"bytes"`
	Blocks int64  `json:"blocks"`
}

// MemoryPoint is the level from an instant on.
type MemoryPoint struct {
	AtUs     float64 `json:"at_us"`
	Bytes    int64   `json:"bytes"`
	Reserved *int64  `json:"reserved,omitempty"`
}
