// Package kineto reads the text of a Kineto or Chrome trace as a stream of typed raw events. One pass goes over the
// bytes; no tree is built and no text is kept except interned strings. Machine-written traces repeat a handful of
// layouts, so the scanner remembers the text between the values of earlier events and compares instead of parsing
// (shape.go); whatever does not compare is parsed by the general rules (parse.go), and what does not parse by those is
// read leniently or skipped up to the next event, and counted (damage.go). A long text can be cut into pieces that several
// scanners read (pieces.go).
//
// It does not interpret events, sort them or link them.
package kineto
