package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// asleepAt is the account of a program whose thread is asleep for 40 ms of each step of 100, in a user's line of the given text.
func asleepAt(t *testing.T, text string, device bool) *account.Breakdown {
	t.Helper()
	p := testkit.NewProgram()
	p.P.Torch = "2.9.0"
	lines := make([]string, 20)
	lines[11] = text
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(40, module, loop(44), user("answer", 10, 12)))
	for i := range p.P.Steps {
		if device {
			p.P.Steps[i].DeviceDur = 50e6
		}
	}
	_, b := find(t, p)
	return b
}

// What a sleeping thread waits for is told by its line: a lock that is entered is waited for, a tensor's type is no reason to
// wait for the device.
func TestWhatASleepingThreadWaitsFor(t *testing.T) {
	for _, c := range []struct {
		text   string
		device bool
		part   account.PartID
	}{
		{"        with self.lock:", false, account.PartBlocked},
		{"    with locks[name]:", false, account.PartBlocked},
		{"    with self.lock: total += 1", false, account.PartBlocked},
		{"    with torch.no_grad():", false, account.PartOps},
		{"    y = x @ w", false, account.PartOps},
		{"    y = float(loss)", true, account.PartSync},
		{"    y = x.float()", true, account.PartOps},
		{"    y = self.fits.bool()", true, account.PartOps},
	} {
		want := 0.4
		if c.part == account.PartOps {
			want = 1
		}
		if b := asleepAt(t, c.text, c.device); math.Abs(b.Part(c.part)/b.Total-want) > 0.02 {
			t.Errorf("%q: %v has %.2f of the step, want %.2f", c.text, c.part, b.Part(c.part)/b.Total, want)
		}
	}
}

// A wait for a lock is called that.
func TestAWaitForALockIsCalledThat(t *testing.T) {
	for text, want := range map[string]string{"    with self.lock:": "input.title-lock-held", "    lock.acquire()": "input.title-lock-held",
		"    time.sleep(1)": "input.title-sleep", "    conn.recv()": "input.title-sleeps"} {
		p := testkit.NewProgram()
		lines := make([]string, 20)
		lines[11] = text
		p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
		p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(40, loop(44), user("answer", 10, 12)))
		found, _ := find(t, p)
		if len(found.Findings) == 0 || found.Findings[0].Title.ID != want {
			t.Errorf("%q: %+v, want %q", text, found.Findings, want)
		}
	}
}
