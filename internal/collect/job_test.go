package collect

import (
	"strings"
	"testing"
)

func TestFindJob(t *testing.T) {
	start := func(pid int) string { return "1234" }
	cases := []struct {
		name   string
		env    map[string]string
		id     string // "" = random
		rank   int
		shared bool
	}{
		{"alone", nil, "", 0, false},
		{"a rank in the environment of a program on its own", map[string]string{"RANK": "3"}, "", 0, false},
		{"slurm step", map[string]string{"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "5"},
			"slurm-77.0", 5, true},
		{"slurm batch script", map[string]string{"SLURM_JOB_ID": "77", "SLURM_PROCID": "0"}, "", 0, false},
		{"slurm step of one task", map[string]string{"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1"},
			"", 0, false},
		{"torchelastic with an id", map[string]string{"TORCHELASTIC_RUN_ID": "abc/9", "WORLD_SIZE": "4", "RANK": "2"},
			"elastic-abc_9", 2, true},
		{"torchelastic on one host without", map[string]string{"TORCHELASTIC_RUN_ID": "none", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
			"RANK": "1"}, "elastic-42-1234", 1, true},
		{"torchelastic on two hosts without", map[string]string{"TORCHELASTIC_RUN_ID": "none", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2",
			"RANK": "1", "MASTER_ADDR": "n1", "MASTER_PORT": "29500"}, "elastic-n1-29500", 1, true},
		{"open mpi", map[string]string{"PMIX_NAMESPACE": "prte-n1-5@1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"},
			"mpi-prte-n1-5_1", 1, true},
		{"kubernetes indexed job", map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "3",
			"HOSTNAME": "train-3-x8fj2"}, "k8s-train", 3, true},
		{"by hand", map[string]string{EnvJob: "mine", "RANK": "1"}, "mine", 1, true},
	}
	for _, c := range cases {
		job := FindJob(func(name string) string { return c.env[name] }, 42, start)
		if c.id != "" && job.ID != c.id || c.id == "" && !strings.HasPrefix(job.ID, "run-") || job.Rank != c.rank ||
			job.Shared != c.shared {
			t.Errorf("%s: %+v, want %q rank %d shared %v", c.name, job, c.id, c.rank, c.shared)
		}
	}
}

func TestRandomJobsDiffer(t *testing.T) {
	none := func(string) string { return "" }
	start := func(int) string { return "" }
	if a, b := FindJob(none, 1, start), FindJob(none, 1, start); a.ID == b.ID {
		t.Errorf("two runs share the id %s", a.ID)
	}
}

func TestShortName(t *testing.T) {
	cases := map[string]Target{
		"train":     {Kind: TargetScript, Name: "src/train.py"},
		"pkg.train": {Kind: TargetModule, Name: "pkg.train"},
		"ddp":       {Kind: TargetCommand, Name: "torchrun", Args: []string{"--nproc-per-node", "2", "work/ddp.py", "x.py"}},
		"sh":        {Kind: TargetCommand, Name: "/bin/sh"},
		"run":       {Kind: TargetScript, Name: "."},
	}
	for want, target := range cases {
		if got := target.ShortName(); got != want {
			t.Errorf("%+v: %q, want %q", target, got, want)
		}
	}
}
