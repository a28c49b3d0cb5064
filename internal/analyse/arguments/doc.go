// Package arguments reads what a trace recorded of an operator's or a kernel's arguments: shapes, values, types, objects
// in JSON, and the floating-point operations and bytes that follow from them.
//
// It does not know events: it takes texts.
package arguments
