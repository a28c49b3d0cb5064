// Command page measures the page in a real browser without a window: how soon it is drawn and answers, how smoothly the timeline zooms and
// pans, what browser and server need, and the same for the pages of other profilers in the same run. Every number stands beside its goal.
// Times are of the machine as it is: run it on an idle one.
//
//	go run ./bench/page [-large MB] [-middle MB] [-rows N] BINARY TRACES PEERS
//
// TRACES is the folder of real traces; PEERS the folder that bench/page/peers.sh makes. What is not there is left out and said.
// It does not compare what pages show: the tests of internal/web do that.
package main
