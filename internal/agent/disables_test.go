package agent

import "testing"

// TestProgramEndsOurSession: a program may end a session of ours with torch's own function, as trainers do before they start theirs. Ours
// is not ended a second time then, which torch warns of on the program's standard error.
func TestProgramEndsOurSession(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			interpreter := python(t, generation)
			agent, dir := withAgent(t, interpreter, Config{}, nil, "disables.py")
			same(t, startPlain(t, interpreter, "disables.py"), agent)
			noHookFailed(t, read(t, dir))
		})
	}
}
