package report

import "io"

// ProofSchema is the name and version of the document of a proof.
const ProofSchema = "bottleneck.proof/1"

// Verdicts of a proof.
const (
	ProofSaves     = "saves"
	ProofCosts     = "costs"
	ProofNothing   = "nothing" // equal within 2 %
	ProofUndecided = "undecided"
	ProofFails     = "fails" // the changed program fails
)

// What became of the program's outputs.
const (
	OutputsSame    = "same"
	OutputsDiffer  = "differ"
	OutputsUnknown = "unknown" // the unchanged program's own differ from run to run, or there is but one run
)

// Proof is what a finding's change saves, measured on the program itself. Lists are never null.
type Proof struct {
	Schema   string       `json:"schema"`
	Tool     string       `json:"tool,omitempty"`
	Verdict  string       `json:"verdict"`
	Sentence string       `json:"sentence"`
	Finding  ProofFinding `json:"finding"`
	Promised Saved        `json:"promised"`
	Proven   Saved        `json:"proven"`
	// Bound says that what was run is not the fix but its upper bound: the cause was taken away.
	Bound      bool      `json:"bound"`
	Outputs    string    `json:"outputs"`
	Difference string    `json:"difference,omitempty"` // the first one of the outputs
	Patch      string    `json:"patch,omitempty"`      // path of the change, for git apply
	Command    []string  `json:"command"`
	Original   DiffSide  `json:"original"`
	Changed    DiffSide  `json:"changed"`
	Per        string    `json:"per"` // what both sides' times are of
	InTurns    DiffTurns `json:"in_turns"`
	Notes      []string  `json:"notes"`
}

// ProofFinding is the finding that was proven.
type ProofFinding struct {
	Number int    `json:"number"`
	Cause  string `json:"cause"`
	Sub    string `json:"sub,omitempty"`
	Title  string `json:"title"`
	Where  *Place `json:"where,omitempty"`
	Change string `json:"change"` // in words or as code
	Was    string `json:"was,omitempty"`
	Before string `json:"before,omitempty"` // the line before which the change is put in
}

// Saved is a saving in both units, each where it is known.
type Saved struct {
	RunS   *Range `json:"run_s,omitempty"`
	StepMs *Range `json:"step_ms,omitempty"`
}

// WriteProofJSON writes the document, one object, indented, with a final newline.
func WriteProofJSON(w io.Writer, p *Proof) error { return writeDocument(w, p, "proof") }
