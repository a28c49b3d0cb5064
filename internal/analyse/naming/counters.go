package naming

import "strings"

// counterMeanings say what hardware counters mean, by the beginning of their names; longer beginnings stand first. Names are those
// of CUPTI's metrics (nvprof, up to compute capability 7.2), of Nsight Compute and of rocprofiler.
var counterMeanings = []struct{ name, meaning string }{
	{"achieved_occupancy", "warps that were active, of those that fit"},
	{"sm_efficiency", "share of the time in which a multiprocessor had work"},
	{"ipc", "instructions per cycle"},
	{"warp_execution_efficiency", "threads of a warp that took part, on average"},
	{"branch_efficiency", "branches on which a warp's threads agreed"},
	{"gld_efficiency", "bytes asked for of the bytes loaded: low where accesses are not contiguous"},
	{"gst_efficiency", "bytes asked for of the bytes stored: low where accesses are not contiguous"},
	{"gld_throughput", "bytes loaded from global memory per second"},
	{"gst_throughput", "bytes stored to global memory per second"},
	{"dram_read_throughput", "bytes read from the device's memory per second"},
	{"dram_write_throughput", "bytes written to the device's memory per second"},
	{"dram_utilization", "how busy the device's memory was, 0 to 10"},
	{"l2_tex_hit_rate", "requests that the L2 cache answered"},
	{"tex_cache_hit_rate", "requests that the L1 cache answered"},
	{"shared_efficiency", "bytes asked for of the bytes that shared memory moved: low with bank conflicts"},
	{"stall_memory_dependency", "waits for loads, of all waits"},
	{"stall_exec_dependency", "waits for an earlier result, of all waits"},
	{"stall_sync", "waits at a barrier, of all waits"},
	{"flop_sp_efficiency", "single-precision operations, of the peak"},
	{"flop_dp_efficiency", "double-precision operations, of the peak"},
	{"flop_count_sp", "single-precision operations"},
	{"flop_count_hp", "half-precision operations"},
	{"tensor_precision_fu_utilization", "how busy the tensor cores were, 0 to 10"},
	{"eligible_warps_per_cycle", "warps that could issue in a cycle: below 1 the scheduler waits"},
	{"gpu__time_duration", "time of the kernel, measured alone"},
	{"Duration", "time of the kernel, measured alone"},
	{"gpu__compute_memory_throughput", "how busy the memory system was, of its peak"},
	{"gpu__dram_throughput", "how busy the device's memory was, of its peak"},
	{"Compute (SM) Throughput", "how busy the multiprocessors were, of their peak"},
	{"Memory Throughput", "how busy the memory system was, of its peak, or bytes per second"},
	{"DRAM Throughput", "how busy the device's memory was, of its peak"},
	{"Achieved Occupancy", "warps that were active, of those that fit"},
	{"Theoretical Occupancy", "warps that registers, shared memory and block size let in"},
	{"Registers Per Thread", "registers of a thread: many of them limit the occupancy"},
	{"sm__throughput", "how busy the multiprocessors were, of their peak"},
	{"sm__warps_active", "warps that were active, of those that fit"},
	{"sm__maximum_warps", "warps that registers, shared memory and block size let in"},
	{"sm__inst_executed_pipe_tensor", "instructions of the tensor cores"},
	{"smsp__sass_thread_inst_executed_op_ffma", "fused multiply-adds in single precision: two operations each"},
	{"smsp__sass_thread_inst_executed_op_hfma", "fused multiply-adds in half precision: two operations each"},
	{"smsp__sass_thread_inst_executed_op_fadd", "additions in single precision"},
	{"smsp__sass_thread_inst_executed_op_fmul", "multiplications in single precision"},
	{"dram__throughput", "how busy the device's memory was, of its peak"},
	{"dram__bytes_read", "bytes read from the device's memory"},
	{"dram__bytes_write", "bytes written to the device's memory"},
	{"dram__bytes", "bytes read from and written to the device's memory"},
	{"lts__t_sector_hit_rate", "requests that the L2 cache answered"},
	{"l1tex__t_sector_hit_rate", "requests that the L1 cache answered"},
	{"launch__registers_per_thread", "registers of a thread: many of them limit the occupancy"},
	{"launch__occupancy_limit", "blocks that this resource lets onto a multiprocessor"},
	{"launch__waves_per_multiprocessor", "rounds in which the blocks fill the device: a fraction leaves part of it idle"},
	{"SQ_WAVES", "wavefronts that were started"},
	{"SQ_INSTS_VALU", "instructions of the vector units"},
	{"SQ_INSTS_SALU", "instructions of the scalar units"},
	{"SQ_INSTS_VMEM", "instructions that load from or store to memory"},
	{"SQ_INSTS_MFMA", "instructions of the matrix cores"},
	{"SQ_INSTS_LDS", "instructions of local memory"},
	{"GRBM_GUI_ACTIVE", "cycles in which the device was busy"},
	{"GRBM_COUNT", "cycles of the device"},
	{"TCC_HIT", "requests that the L2 cache answered"},
	{"TCC_MISS", "requests that the L2 cache passed on to memory"},
	{"FETCH_SIZE", "kilobytes read from the device's memory"},
	{"FetchSize", "kilobytes read from the device's memory"},
	{"WRITE_SIZE", "kilobytes written to the device's memory"},
	{"WriteSize", "kilobytes written to the device's memory"},
	{"VALUUtilization", "lanes of a wavefront that took part, on average"},
	{"VALUBusy", "share of the time in which the vector units were busy"},
	{"MemUnitBusy", "share of the time in which the memory unit was busy"},
	{"MemUnitStalled", "share of the time in which the memory unit waited"},
	{"OccupancyPercent", "wavefronts that were active, of those that fit"},
	{"L2CacheHit", "requests that the L2 cache answered"},
}

// CounterMeaning says in a few words what a hardware counter means, "" for one that is not known.
func CounterMeaning(name string) string {
	for i := range counterMeanings {
		if strings.HasPrefix(name, counterMeanings[i].name) {
			return counterMeanings[i].meaning
		}
	}
	return ""
}
