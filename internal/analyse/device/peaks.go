package device

import (
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/model"
)

// PeakRates are a device's dense peak rates at boost clock, as its vendor states them; 0 where the format has none.
type PeakRates struct {
	Name  string
	SMs   int                              // multiprocessors or compute units of the whole device
	Rates [arguments.NumPrecisions]float64 // TFLOP/s
	GBs   float64                          // memory bandwidth
}

// peakTable holds vendors' data sheets; of fp64, the rate without matrix units. The first entry whose words are all in the
// device's name counts, so special forms come before general ones. Laptop forms have their own, lower rates (of the
// middle of their power range).
var peakTable = []struct {
	words []string
	PeakRates
}{
	{[]string{"v100", "pci"}, PeakRates{"V100 PCIe", 80, [6]float64{7, 14, 0, 112, 0, 0}, 900}},
	{[]string{"v100"}, PeakRates{"V100 SXM2", 80, [6]float64{7.8, 15.7, 0, 125, 0, 62}, 900}},
	{[]string{"gp100"}, PeakRates{"Quadro GP100", 56, [6]float64{5.2, 10.3, 0, 20.7, 0, 0}, 717}},
	{[]string{"p100"}, PeakRates{"P100", 56, [6]float64{5.3, 10.6, 0, 21.2, 0, 0}, 732}},
	{[]string{"tesla t4"}, PeakRates{"T4", 40, [6]float64{0.25, 8.1, 0, 65, 0, 130}, 320}},
	{[]string{"a100", "80gb", "pci"}, PeakRates{"A100 80 GB PCIe", 108, [6]float64{9.7, 19.5, 156, 312, 0, 624}, 1935}},
	{[]string{"a100", "80gb"}, PeakRates{"A100 80 GB", 108, [6]float64{9.7, 19.5, 156, 312, 0, 624}, 2039}},
	{[]string{"a100"}, PeakRates{"A100 40 GB", 108, [6]float64{9.7, 19.5, 156, 312, 0, 624}, 1555}},
	{[]string{"a800"}, PeakRates{"A800", 108, [6]float64{9.7, 19.5, 156, 312, 0, 624}, 2039}},
	{[]string{"a10g"}, PeakRates{"A10G", 80, [6]float64{0.5, 31.2, 35, 70, 0, 140}, 600}},
	{[]string{"rtx a6000"}, PeakRates{"RTX A6000", 84, [6]float64{0.6, 38.7, 77.4, 154.8, 0, 309}, 768}},
	{[]string{"l40s"}, PeakRates{"L40S", 142, [6]float64{1.4, 91.6, 183, 362, 733, 733}, 864}},
	{[]string{"nvidia l4"}, PeakRates{"L4", 58, [6]float64{0.5, 30.3, 60, 121, 242, 242}, 300}},
	{[]string{"h100", "pci"}, PeakRates{"H100 PCIe", 114, [6]float64{26, 51, 378, 756, 1513, 1513}, 2000}},
	{[]string{"h100", "nvl"}, PeakRates{"H100 NVL", 132, [6]float64{30, 60, 417.5, 835.5, 1671, 1671}, 3900}},
	{[]string{"h100"}, PeakRates{"H100 SXM", 132, [6]float64{34, 67, 494.7, 989.4, 1978.9, 1978.9}, 3350}},
	{[]string{"h800"}, PeakRates{"H800 SXM", 132, [6]float64{1, 67, 494.7, 989.4, 1978.9, 1978.9}, 3350}},
	{[]string{"gh200", "144g"}, PeakRates{"GH200 144 GB", 132, [6]float64{34, 67, 494.7, 989.4, 1978.9, 1978.9}, 4900}},
	{[]string{"gh200"}, PeakRates{"GH200", 132, [6]float64{34, 67, 494.7, 989.4, 1978.9, 1978.9}, 4000}},
	{[]string{"h200"}, PeakRates{"H200 SXM", 132, [6]float64{34, 67, 494.7, 989.4, 1978.9, 1978.9}, 4800}},
	{[]string{"b200"}, PeakRates{"B200 SXM", 148, [6]float64{37, 75, 1100, 2250, 4500, 4500}, 7700}},
	{[]string{"mi250"}, PeakRates{"MI250X, one of two dies", 110, [6]float64{23.95, 23.95, 0, 191.5, 0, 191.5}, 1638}},
	{[]string{"mi210"}, PeakRates{"MI210", 104, [6]float64{22.6, 22.6, 0, 181, 0, 181}, 1638}},
	{[]string{"mi300x"}, PeakRates{"MI300X", 304, [6]float64{81.7, 163.4, 653.7, 1307.4, 2614.9, 2614.9}, 5300}},
	{[]string{"mi325"}, PeakRates{"MI325X", 304, [6]float64{81.7, 163.4, 653.7, 1307.4, 2614.9, 2614.9}, 6000}},
	{[]string{"mi350"}, PeakRates{"MI350X", 256, [6]float64{72.1, 144.2, 0, 2309.6, 4614, 4614}, 8000}},
	{[]string{"4090", "laptop"}, PeakRates{"RTX 4090 Laptop", 76, [6]float64{0.52, 33, 33, 66, 132, 264}, 576}},
	{[]string{"4080", "laptop"}, PeakRates{"RTX 4080 Laptop", 58, [6]float64{0.39, 24.7, 24.7, 49.4, 98.8, 198}, 432}},
	{[]string{"4070", "laptop"}, PeakRates{"RTX 4070 Laptop", 36, [6]float64{0.24, 15.6, 15.6, 31.2, 62.4, 125}, 256}},
	{[]string{"4060", "laptop"}, PeakRates{"RTX 4060 Laptop", 24, [6]float64{0.18, 11.6, 11.6, 23.2, 46.4, 93}, 256}},
	{[]string{"4090"}, PeakRates{"RTX 4090", 128, [6]float64{1.3, 82.6, 82.6, 165, 330, 661}, 1008}},
	{[]string{"4080"}, PeakRates{"RTX 4080", 76, [6]float64{0.76, 48.7, 48.7, 97.5, 195, 390}, 717}},
	{[]string{"4070"}, PeakRates{"RTX 4070", 46, [6]float64{0.46, 29.1, 29.1, 58.3, 116.6, 233}, 504}},
	{[]string{"4060"}, PeakRates{"RTX 4060", 24, [6]float64{0.24, 15.1, 15.1, 30.2, 60.5, 121}, 272}},
	{[]string{"3080", "laptop"}, PeakRates{"RTX 3080 Laptop", 48, [6]float64{0.29, 18.7, 18.7, 37.4, 0, 150}, 448}},
	{[]string{"3070", "laptop"}, PeakRates{"RTX 3070 Laptop", 40, [6]float64{0.24, 15.9, 15.9, 31.9, 0, 128}, 448}},
	{[]string{"3060", "laptop"}, PeakRates{"RTX 3060 Laptop", 30, [6]float64{0.2, 10.9, 10.9, 21.9, 0, 88}, 336}},
	{[]string{"3090"}, PeakRates{"RTX 3090", 82, [6]float64{0.56, 35.6, 35.6, 71, 0, 284}, 936}},
	{[]string{"3080"}, PeakRates{"RTX 3080", 68, [6]float64{0.47, 29.8, 29.8, 59.5, 0, 238}, 760}},
	{[]string{"3070"}, PeakRates{"RTX 3070", 46, [6]float64{0.32, 20.3, 20.3, 40.6, 0, 163}, 448}},
	{[]string{"3060"}, PeakRates{"RTX 3060", 28, [6]float64{0.2, 12.7, 12.7, 25.5, 0, 102}, 360}},
	{[]string{"2080 ti"}, PeakRates{"RTX 2080 Ti", 68, [6]float64{0.42, 13.4, 0, 53.8, 0, 215}, 616}},
	{[]string{"gtx 1650"}, PeakRates{"GTX 1650", 14, [6]float64{0.09, 3, 0, 6, 0, 0}, 128}},
	{[]string{"gtx 1080 ti"}, PeakRates{"GTX 1080 Ti", 28, [6]float64{0.35, 11.3, 0, 0.18, 0, 45}, 484}},
}

// PeaksOf finds a device's peak rates by its name. Fewer multiprocessors than the whole device has (a MIG slice) scale them
// down; nil for unknown devices.
func PeaksOf(gpu model.GPU) *PeakRates {
	name := strings.ToLower(gpu.Name)
	for _, entry := range peakTable {
		if !containsAll(name, entry.words) {
			continue
		}
		p := entry.PeakRates
		if gpu.SMs > 0 && gpu.SMs < p.SMs*9/10 {
			part := float64(gpu.SMs) / float64(p.SMs)
			for i := range p.Rates {
				p.Rates[i] *= part
			}
			p.GBs *= part
			p.Name += " (part)"
		}
		return &p
	}
	return nil
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
