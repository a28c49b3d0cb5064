package keyaverages

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// TestSelfTimesClose: self times of all events, Python calls and removed duplicates included, sum to the top-level time.
func TestSelfTimesClose(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		events, _ := FunctionEvents(trace, s, Options{})
		var self, top, selfDevice, topDevice model.Dur
		for _, e := range events {
			if e.DeviceType == OnDevice || e.IsAsync {
				continue
			}
			self += e.SelfCPU
			selfDevice += e.SelfDevice
			if e.Parent < 0 {
				top += e.CPU
				topDevice += e.Device
			}
		}
		if self != top || selfDevice != topDevice {
			t.Errorf("self %d, top level %d; device: %d, %d", self, top, selfDevice, topDevice)
		}
	})
}
