package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bottleneck/internal/agent"
	"bottleneck/internal/collect"
	"bottleneck/internal/record"
)

func newEnvCommand(a *app) *cobra.Command {
	o := &runOptions{environmentOnly: true}
	shell := "sh"
	cmd := &cobra.Command{
		Use:   "env --out DIR",
		Short: "Print the environment for programs that no launcher can be put in front of",
		Long: "Prints shell commands that make every Python program started afterwards write into the session DIR by itself:\n" +
			"for Kubernetes, Ray, a notebook's kernel. Python stacks are then taken inside the program.",
		Example: "  eval \"$(bottleneck env --out /data/session)\"; python train.py\n  bottleneck report /data/session",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if o.out == "" {
				return usage("env: --out DIR is missing")
			}
			if err := oneOf("--shell", shell, "sh", "fish", "docker"); err != nil {
				return err
			}
			return a.printEnv(o, shell)
		},
	}
	o.addTo(cmd.Flags())
	cmd.Flags().StringVar(&shell, "shell", shell, "`SYNTAX`: sh, fish, or docker (NAME=VALUE lines for --env-file)")
	return cmd
}

// inProcessHz is the rate of the agent's own sampler, which stands in for the one outside.
const inProcessHz = 20

func (a *app) printEnv(o *runOptions, shell string) error {
	dir, err := filepath.Abs(o.out)
	if err != nil {
		return unusable(fmt.Errorf("session directory: %w", err))
	}
	if err := collect.OwnDirectory(dir); err != nil {
		return usage("--out: %v", err)
	}
	host, _ := os.Hostname()
	job := collect.FindJob(os.Getenv, os.Getppid(), collect.ProcessStart)
	// Several hosts or pods may evaluate this with one DIR; they are one job.
	if old, err := record.ReadManifest(dir); err == nil && len(old.Command) == 0 {
		job.ID = old.Job
	}
	if _, err := record.Create(dir, record.Manifest{Job: job.ID, CreatedUnixNS: time.Now().UnixNano(), Host: host,
		Version: Version()}); err != nil {
		return unusable(err)
	}
	agentDir := filepath.Join(dir, record.AgentDir)
	if err := agent.ExtractOrVerify(agentDir); err != nil {
		return unusable(err)
	}
	config := o.config
	config.Session, config.Sample = dir, inProcessHz
	base := os.Environ()
	known := map[string]bool{}
	for _, pair := range base {
		known[pair] = true
	}
	for _, pair := range agent.Environ(base, agentDir, config) {
		if !known[pair] {
			fmt.Fprintln(a.stdout, exportLine(pair, shell))
		}
	}
	return nil
}

// exportLine sets one NAME=VALUE in a shell's syntax.
func exportLine(pair, shell string) string {
	name, value, _ := strings.Cut(pair, "=")
	switch shell {
	case "fish":
		value = strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value)
		return "set -gx " + name + " '" + value + "'"
	case "docker":
		return pair
	}
	return "export " + name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
