package collect

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"bottleneck/internal/record"
)

// Environment variables by which nested launchers and agents know the session they are part of.
const (
	// EnvSession holds the session directory.
	EnvSession = "BNECK_SESSION"
	// EnvJob holds or sets the job's id.
	EnvJob = "BNECK_JOB"
)

// Job is what several launchers of one distributed job have in common, and this launcher's place among them.
type Job struct {
	ID string
	// Shared says that the id comes from the environment, so that other launchers know it too.
	Shared bool
	Rank   int
}

// FindJob reads the identity of the job from environment variables, looked up by get; a single program gets a random id.
// start gives a process's start as its host counts it ("" unknown) and parent is this process's parent: together they
// tell apart two torchrun jobs that both call themselves "none".
func FindJob(get func(string) string, parent int, start func(pid int) string) Job {
	job := Job{Rank: firstInt(get, "RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX")}
	job.ID = sharedID(get, parent, start)
	job.Shared = job.ID != ""
	if !job.Shared {
		job.ID, job.Rank = randomID(), 0
	}
	return job
}

// sharedID is the id that every launcher of the job derives alike, "" for a program on its own.
func sharedID(get func(string) string, parent int, start func(int) string) string {
	if id := get(EnvJob); id != "" {
		return record.SafeName(id)
	}
	if id := get("TORCHELASTIC_RUN_ID"); id != "" && number(get("WORLD_SIZE")) > 1 {
		return elasticID(id, get, parent, start)
	}
	if id := get("SLURM_JOB_ID"); id != "" && get("SLURM_STEP_ID") != "" && number(get("SLURM_STEP_NUM_TASKS")) > 1 {
		return record.SafeName("slurm-" + id + "." + get("SLURM_STEP_ID"))
	}
	if id := get("PMIX_NAMESPACE"); id != "" && number(get("OMPI_COMM_WORLD_SIZE")) > 1 {
		return record.SafeName("mpi-" + id)
	}
	if index := get("JOB_COMPLETION_INDEX"); index != "" && get("KUBERNETES_SERVICE_HOST") != "" {
		// Pods of an indexed job are named <job>-<index>-<five random letters>.
		if name, _, found := strings.Cut(get("HOSTNAME"), "-"+index+"-"); found {
			return record.SafeName("k8s-" + name)
		}
	}
	return ""
}

// elasticID makes torchelastic's run id unique: "none", its default, says nothing, so the agent process that started
// this worker (one host) or the rendezvous address (several) stands in.
func elasticID(id string, get func(string) string, parent int, start func(int) string) string {
	if id != "none" {
		return record.SafeName("elastic-" + id)
	}
	if get("WORLD_SIZE") == get("LOCAL_WORLD_SIZE") {
		return record.SafeName(fmt.Sprintf("elastic-%d-%s", parent, start(parent)))
	}
	return record.SafeName("elastic-" + get("MASTER_ADDR") + "-" + get("MASTER_PORT"))
}

func firstInt(get func(string) string, names ...string) int {
	for _, name := range names {
		if n, err := strconv.Atoi(get(name)); err == nil && n >= 0 {
			return n
		}
	}
	return 0
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return "run-" + hex.EncodeToString(b[:])
}
