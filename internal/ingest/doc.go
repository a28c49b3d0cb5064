// Package ingest turns files into the model's session: it recognises each file by its content, unpacks it, reads it and
// says what was wrong with it. Kineto and Chrome traces pass from package kineto (text to raw events) through a builder
// (raw events to columns) to the linker (parents, launches, steps); every other format has one small file.
//
// It does not compute results, and it does not print.
package ingest
