package collect

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"bottleneck/internal/record"
)

// gpuFields are nvidia-smi's names of the columns that parseGPUs reads, in its order.
var gpuFields = []string{"index", "name", "memory.total", "memory.used", "clocks.sm", "clocks.max.sm", "pstate", "utilization.gpu"}

// ReadGPUs asks the NVIDIA driver's tool about the devices; nil where there is no such driver or the tool does not answer
// within two seconds. It is meant to run beside the program's start: before the program touches a device, what is busy is
// somebody else's.
func ReadGPUs(ctx context.Context) []record.GPU {
	if _, err := os.Stat("/dev/nvidiactl"); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu="+strings.Join(gpuFields, ","), "--format=csv,noheader,nounits")
	cmd.WaitDelay = 100 * time.Millisecond
	text, err := cmd.Output()
	if err != nil {
		return nil
	}
	return parseGPUs(strings.NewReader(string(text)))
}

// parseGPUs reads nvidia-smi's CSV (MiB, MHz, per cent); columns that say "[N/A]" stay unknown.
func parseGPUs(r io.Reader) []record.GPU {
	rows := csv.NewReader(r)
	rows.TrimLeadingSpace = true
	rows.FieldsPerRecord = len(gpuFields)
	var out []record.GPU
	for len(out) < 256 {
		row, err := rows.Read()
		if err != nil {
			return out
		}
		gpu := record.GPU{Name: row[1], ClockMHz: known(row[4]), MaxClockMHz: known(row[5]), PowerState: row[6]}
		gpu.Index, _ = strconv.Atoi(row[0])
		if mib := known(row[2]); mib != nil {
			gpu.MemoryBytes = int64(*mib) << 20
		}
		if mib := known(row[3]); mib != nil {
			gpu.MemoryUsed = int64(*mib) << 20
		}
		if percent := known(row[7]); percent != nil {
			share := *percent / 100
			gpu.Utilisation = &share
		}
		out = append(out, gpu)
	}
	return out
}

func known(text string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return nil
	}
	return &v
}
