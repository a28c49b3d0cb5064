package report

// SnapshotRow is what a CUDA memory snapshot tells of one device. Reserved is active, pending, fragmented and cached bytes together.
type SnapshotRow struct {
	File            string       `json:"file"`
	Rank            *int         `json:"rank,omitempty"`
	Device          int          `json:"device"`
	ReservedBytes   int64        `json:"reserved_bytes"`
	ActiveBytes     int64        `json:"active_bytes"`
	PendingBytes    int64        `json:"pending_bytes"`    // freed, but another stream may still use it
	FragmentedBytes int64        `json:"fragmented_bytes"` // free, in segments that hold others
	CachedBytes     int64        `json:"cached_bytes"`     // in segments that are wholly free
	RoundingBytes   int64        `json:"rounding_bytes"`   // within active ones
	LargestGapBytes int64        `json:"largest_gap_bytes"`
	PrivateBytes    int64        `json:"private_pool_bytes"`
	DeviceBytes     *int64       `json:"device_bytes,omitempty"` // what the device has, where another file tells
	Config          string       `json:"config,omitempty"`       // PYTORCH_CUDA_ALLOC_CONF
	Segments        []SegmentRow `json:"segments"`
	Live            []OwnerRow   `json:"live"` // who allocated what is active
	// Recorded is absent where no events were recorded.
	Recorded *SnapshotEvents `json:"recorded,omitempty"`
	// Warnings name what cannot be, such as more memory than the device has.
	Warnings []string `json:"warnings"`
}

// SegmentRow sums the segments of one kind: small, large or expandable.
type SegmentRow struct {
	Kind            string `json:"kind"`
	Segments        int64  `json:"segments"`
	ReservedBytes   int64  `json:"reserved_bytes"`
	ActiveBytes     int64  `json:"active_bytes"` // pending ones too
	FragmentedBytes int64  `json:"fragmented_bytes"`
	CachedBytes     int64  `json:"cached_bytes"`
}

// OwnerRow is memory by who allocated it.
type OwnerRow struct {
	Where  Where `json:"where"`
	Before bool  `json:"before,omitempty"` // the recording; by whom is then not known
	Bytes  int64 `json:"bytes"`
	Blocks int64 `json:"blocks"`
}

// SnapshotEvents is what the recorded events of a snapshot add up to, in bytes as the program asked for them.
type SnapshotEvents struct {
	Events       int64         `json:"events"`
	Allocations  int64         `json:"allocations"`
	LengthUs     float64       `json:"length_us"` // 0 where the file has no times
	BeforeBytes  int64         `json:"before_bytes"`
	PeakBytes    int64         `json:"peak_bytes"`
	PeakAtUs     float64       `json:"peak_at_us"` // from the first event
	PeakReserved int64         `json:"peak_reserved_bytes"`
	AtPeak       []OwnerRow    `json:"at_peak"`
	Timeline     []MemoryPoint `json:"timeline"`
	OOMs         []OOMRow      `json:"out_of_memory"` // the first
	OOMCount     int64         `json:"out_of_memory_count"`
}

// OOMRow is a request that could not be met.
type OOMRow struct {
	AtUs          float64    `json:"at_us"`
	AskedBytes    int64      `json:"asked_bytes"`
	FreeOnDevice  int64      `json:"device_free_bytes"`
	ActiveBytes   int64      `json:"active_bytes"`
	ReservedBytes int64      `json:"reserved_bytes"`
	Where         Where      `json:"where"`
	Holders       []OwnerRow `json:"holders"`
}
