// Package rerun measures what no replay can know: how long recorded operators take with other threads, in lower precision or in
// another memory layout. It picks the operators of a session that take most time and whose inputs were recorded (shapes, strides,
// types, scalars), and lets a Python process of its own, after the program's end, run each as it was recorded and under
// each fix that applies, in turns. An operator whose time as recorded cannot be reproduced within Tolerance gets no price. A session may
// come from anybody: what is run computes on tensors and numbers only, within the time and the memory that were given.
//
// It does not touch the program's process or its data: inputs are random numbers of the recorded shapes.
package rerun
