// Package rerun measures what no replay can know: how long recorded operators take with other threads, in lower precision or in
// another memory layout. It picks the operators of a session that take most time and whose inputs were recorded (shapes, strides,
// types, scalars), and lets a Python process of its own, after the program's end, run each first as it was recorded and then under
// each fix that applies. An operator whose time as recorded cannot be reproduced within Tolerance gets no price.
//
// It does not touch the program's process or its data: inputs are random numbers of the recorded shapes.
package rerun
