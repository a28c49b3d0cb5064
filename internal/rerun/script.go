package rerun

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// IsolatedRow is what a script says of one operator with --json.
type IsolatedRow struct {
	Name       string  `json:"name"`
	Torch      string  `json:"torch"`
	RecordedUs float64 `json:"recorded_us"`
	Us         float64 `json:"us"`
	LowUs      float64 `json:"low_us"`
	HighUs     float64 `json:"high_us"`
	Condition  string  `json:"condition"`
	Reproduced bool    `json:"reproduced"`
	Error      string  `json:"error"`
	// Before is how many operators ran before it in its place, of which LeftOut could not be made again; NoPlace says why there is none.
	Before  int    `json:"before"`
	LeftOut int    `json:"left_out"`
	NoPlace string `json:"no_place"`
	// AsRecorded is the condition that the recording tells of; "" none.
	AsRecorded string `json:"as_recorded"`
	// Others is how many cores other programs kept busy meanwhile; nil unknown.
	Others *float64 `json:"others"`
	// Conditions are the times under each condition, whichever is nearest to the recorded time.
	Conditions map[string]struct {
		Us float64 `json:"us"`
	} `json:"conditions"`
}

// RunScript runs a script of Script with an interpreter, in no folder of its own, and passes on what it writes.
func RunScript(ctx context.Context, interpreter, text string, arguments []string, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, interpreter, append([]string{"-c", LeaveWorkingDirectory + "exec(sys.stdin.read())"}, arguments...)...)
	cmd.Env, cmd.WaitDelay = environment(os.Environ(), nil), time.Second
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), stdout, stderr
	EndWhole(cmd)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the operators with %s: %w", interpreter, err)
	}
	return nil
}

// Isolated runs a script and reads what it says of its operators.
func Isolated(ctx context.Context, interpreter, text string, arguments []string) ([]IsolatedRow, error) {
	var out strings.Builder
	var stderr lastText
	err := RunScript(ctx, interpreter, text, append(arguments, "--json"), &out, &stderr)
	var rows []IsolatedRow
	lines := bufio.NewScanner(strings.NewReader(out.String()))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var row IsolatedRow
		if json.Unmarshal(lines.Bytes(), &row) == nil && row.Name != "" {
			rows = append(rows, row)
		}
	}
	for i := range rows {
		if rows[i].Error != "" {
			return nil, fmt.Errorf("%s with %s: %s", rows[i].Name, interpreter, rows[i].Error)
		}
	}
	if err != nil {
		if last := stderr.lastLine(); last != nil {
			err = fmt.Errorf("%w: %w", err, last)
		}
		return nil, err
	}
	return rows, nil
}
