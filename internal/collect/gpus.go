package collect

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"bottleneck/internal/record"
)

// gpuFields are nvidia-smi's names of the columns that parseGPUs reads, in its order.
var gpuFields = []string{"index", "name", "memory.total", "memory.used", "clocks.sm", "clocks.max.sm", "pstate", "utilization.gpu", "uuid"}

// gpuUsers are the columns that addUsers reads, of processes that compute on a device.
var gpuUsers = []string{"gpu_uuid", "pid"}

// ReadGPUs asks the NVIDIA driver's tool about the devices and the processes on them; nil where there is no such driver or the tool does
// not answer within two seconds. It is meant to run beside the program's start, before the program touches a device, and after its end: who
// is there both times is somebody else. How busy a device was is a mean over a second or so, of a program before this one as well. In
// containers the driver most often tells of no process.
func ReadGPUs(ctx context.Context) []record.GPU {
	if _, err := os.Stat("/dev/nvidiactl"); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	text, err := askDriver(ctx, "--query-gpu=", gpuFields)
	if err != nil {
		return nil
	}
	gpus, uuids := parseGPUs(strings.NewReader(text))
	if text, err = askDriver(ctx, "--query-compute-apps=", gpuUsers); err == nil {
		addUsers(gpus, uuids, strings.NewReader(text))
	}
	return gpus
}

func askDriver(ctx context.Context, query string, fields []string) (string, error) {
	cmd := exec.CommandContext(ctx, "nvidia-smi", query+strings.Join(fields, ","), "--format=csv,noheader,nounits")
	cmd.WaitDelay = 100 * time.Millisecond
	text, err := cmd.Output()
	return string(text), err
}

// parseGPUs reads nvidia-smi's CSV (MiB, MHz, per cent); columns that say "[N/A]" stay unknown.
func parseGPUs(r io.Reader) (out []record.GPU, uuids []string) {
	rows := csv.NewReader(r)
	rows.TrimLeadingSpace = true
	rows.FieldsPerRecord = len(gpuFields)
	for len(out) < 256 {
		row, err := rows.Read()
		if err != nil {
			break
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
		out, uuids = append(out, gpu), append(uuids, row[8])
	}
	return out, uuids
}

// addUsers notes which processes compute on each device, by nvidia-smi's CSV.
func addUsers(gpus []record.GPU, uuids []string, r io.Reader) {
	rows := csv.NewReader(r)
	rows.TrimLeadingSpace = true
	rows.FieldsPerRecord = len(gpuUsers)
	const most = 1024
	for range most {
		row, err := rows.Read()
		if err != nil {
			return
		}
		i := slices.Index(uuids, row[0])
		if pid, err := strconv.Atoi(strings.TrimSpace(row[1])); err == nil && pid > 0 && i >= 0 {
			gpus[i].Processes = append(gpus[i].Processes, pid)
		}
	}
}

// Shared says that processes compute on one of the devices.
func Shared(gpus []record.GPU) bool {
	return slices.ContainsFunc(gpus, func(g record.GPU) bool { return len(g.Processes) > 0 })
}

func known(text string) *float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return nil
	}
	return &v
}
