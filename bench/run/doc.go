// Command run measures what `bottleneck run` costs and prints every number beside its goal, with the machine that it was
// measured on. Its parts:
//
//	help    how long `bottleneck --help` takes
//	wall    each example as long as SECONDS, plain and under `run` with the default budget, alternating ALTERNATIONS times:
//	        wall times, traced and baseline steps, the longest pause put into the program, memory of both, and the time
//	        from the program's end to the report
//	tail    what remains once measuring is over: the program under `run` and the plain one TWICE run side by side, and
//	        take turns of SLICE seconds by SIGSTOP and SIGCONT, TAIL_PAIRS times each, in an order that changes. The
//	        program counts its own steps (counted.py, with and without measuring). The time per step under `run` over that
//	        of the plain ones gives pairs that lie seconds apart, so that drift of the machine cancels; the two plain ones
//	        against each other show what this way of measuring can tell at all. They are started anew several times,
//	        for two processes of the same program can differ by a few percent for as long as they live
//	cycles  100 windows of tracing in one run: how much the program's memory grows from the 10th to the 100th
//
// All take some 60 minutes on two cores; `make bench PARTS=wall,help EXAMPLES=images ALTERNATIONS=1` a few.
//
// Environment: PARTS (help,wall,tail,cycles), EXAMPLES (names, comma-separated; all), SECONDS (60), ALTERNATIONS (2),
// TAIL_PAIRS (60), SLICE (0.9: short turns follow a machine that drifts; the interval of 45 of them was half that of 20 of 3.5 s),
// GENERATION (newest), RUN_FLAGS (more flags of `run`, to see what costs what). It ends with status 1 when a goal is missed.
//
// It does not calm the machine: other work on it widens the intervals, which are printed for that reason.
package main
