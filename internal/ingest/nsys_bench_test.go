//go:build linux

package ingest

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
)

// BenchmarkNsysOf100MB reads a database of 1.7 million launches and kernels that SQLite itself wrote.
func BenchmarkNsysOf100MB(b *testing.B) {
	const rows = 880_000
	path := database(b, "", fmt.Sprintf("PRAGMA journal_mode=OFF;"+`
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300) INSERT INTO StringIds SELECT i, printf('void at::native::kernel_%%d<float, 4>(int, float*)', i) FROM n;
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
 demangledName INTEGER, shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
 blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER,
 sharedMemoryExecuted INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%[1]d) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i*9000+3000, i*9000+8000+i%%900, 0, 1, NULL, 7+i%%2, i, 71168<<40|4242<<24,
 1+i%%300, 1+i%%300, 1+i%%300, NULL, 0, 32, 1000+i%%7, 1, 1, 256, 1, 1, 0, 4096, 0, 140000000, i, 32768, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%[1]d) INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i*9000, i*9000+4000, 0, 71168<<40|4242<<24|4242, i, 7, 0, NULL FROM n;`, rows))
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // as package cli does
	debug.FreeOSMemory()
	resetPeak(b)
	defer cpuRate(b, int(info.Size()))()
	for b.Loop() {
		s, err := Open(context.Background(), []string{path}, Options{})
		if err != nil || s.Traces[0].Events.Len() != 2*rows {
			b.Fatal(err, s.Traces[0].Events.Len())
		}
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
	b.ReportMetric(float64(peakMemory(b))/1e6, "peakMB")
	b.ReportMetric(3, "goal-s")
	b.ReportMetric(300, "goal-peakMB")
}
