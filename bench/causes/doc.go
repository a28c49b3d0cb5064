// Command causes writes the reports of docs/causes anew where a line above one says how it was made:
//
//	<!-- trace: PATH -->           a recorded trace, beneath the folder of real traces
//	<!-- run: PATH arguments -->   a Python program, measured on this machine
//
// `make causes` does that for traces, and with PYTHON=INTERPRETER for programs too. Of a report's findings the first of the page's cause is
// taken that has the tag of the one it replaces, else the first of the cause.
//
// It does not judge what a report says: package wording's tests ask that its sentences are those of today.
package main
