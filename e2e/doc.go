// Package e2e runs the real binary on the real programs of examples/, on each PyTorch generation that the machine can have,
// and asks whether the report names what the program's header says: `# expect: cause=… sub=…`, at the lines marked with
// `# expect: here`; and whether the fixed twin is rid of it and faster. It also executes the commands that README.md and
// docs/manual.md show, and installs and runs the wheel.
//
// BOTTLENECK_E2E names the generations, comma-separated, as scripts/env.sh does; without it those tests are skipped, for
// they take minutes. The binary is ./bottleneck of the checkout (`make build`).
//
// It does not look into packages: only at what users see.
package e2e
