// Command run measures what `bottleneck run` costs: it alternates plain and profiled runs of the examples and prints, for
// each, the wall times with their paired ratio and its 95 % bound, the same for the second half of the run (where
// measuring is over), the longest pause, the extra memory, the time from the program's end to the report, and how long
// `bottleneck --help` takes, each beside the bound that it has to keep.
//
//	make bench                                       three alternations of 60 s each
//	make bench ALTERNATIONS=20 EXAMPLES=images       the tight bound for one example
//
// Environment: ALTERNATIONS (3), SECONDS (60: length of a plain run), EXAMPLES (names, comma-separated; all), GENERATION
// (newest), ONLY=help to time `--help` alone. It ends with status 1 when a bound is broken.
//
// It does not calm the machine: other work on it widens the bounds, which are printed for that reason.
package main
