package collect

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// rankVariables are environment variables that tell a process's place in a job, by launcher: torchrun's own, and those
// of MPI, in the order rank, local rank, world size. Slurm's are set for single tasks too and are not asked.
var rankVariables = [][3]string{
	{"RANK", "LOCAL_RANK", "WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
}

// identify finds what a process runs and what it is for. Roles that only its stacks show come later.
func (t *tree) identify(p *treeProcess, parent *treeProcess) {
	exe, _ := proc.Exe(p.PID)
	args, _ := proc.Args(p.PID)
	p.exe, p.Executable, p.mark = exe, exe, proc.ProgramMark(p.PID)
	p.Args = record.RedactArguments(args)
	p.forked = parent != nil && parent.exe == exe && slices.Equal(parent.Args, p.Args)
	p.Rank, p.LocalRank, p.WorldSize, p.WorkerIndex = model.NoRank, model.NoRank, 0, -1
	t.rank(p)
	p.Role = roleOf(args, p.Rank, p.PID == t.root)
	switch {
	case parent == nil:
	case p.Role == model.RoleRank && (parent.Role == model.RoleRank || parent.Role == model.RoleWorker):
		p.Role = model.RoleOther // a child that inherited its parent's environment
	case p.Role == model.RoleRank && parent.Role == model.RoleMain:
		parent.Role = model.RoleLauncher
	case p.Role == model.RoleOther && !p.forked && parent.Role == model.RoleLauncher && isPython(exe) && parent.Rank == model.NoRank &&
		!isPython(parent.exe):
		p.Role = model.RoleMain // behind a shell or another wrapper
	}
}

func (t *tree) rank(p *treeProcess) {
	var names []string
	for _, v := range rankVariables {
		names = append(names, v[:]...)
	}
	env, err := proc.Environ(p.PID, names...)
	if err != nil {
		return
	}
	for _, v := range rankVariables {
		rank, err1 := strconv.Atoi(env[v[0]])
		world, err2 := strconv.Atoi(env[v[2]])
		if err1 != nil || err2 != nil || rank < 0 || world <= rank {
			continue
		}
		p.Rank, p.WorldSize = rank, world
		if local, err := strconv.Atoi(env[v[1]]); err == nil {
			p.LocalRank = local
		}
		return
	}
}

func isPython(exe string) bool { return strings.HasPrefix(path.Base(exe), "python") }

// roleOf tells the role by the command line. Launchers are the programs that only start others.
func roleOf(args []string, rank int, root bool) model.Role {
	text := strings.Join(args, "\x00")
	has := func(s string) bool { return strings.Contains(text, s) }
	switch {
	case has("compile_worker"):
		return model.RoleCompile
	case has("multiprocessing.resource_tracker") || has("multiprocessing.forkserver") || has("multiprocessing.semaphore_tracker"):
		return model.RoleOther
	case rank != model.NoRank:
		return model.RoleRank
	case launches(args):
		return model.RoleLauncher
	case root:
		return model.RoleMain
	}
	return model.RoleOther
}

var launcherNames = map[string]bool{"torchrun": true, "accelerate": true, "deepspeed": true, "mpirun": true, "mpiexec": true,
	"srun": true, "bash": true, "sh": true, "dash": true, "zsh": true, "sudo": true, "env": true, "time": true, "timeout": true,
	"numactl": true, "nice": true, "taskset": true, "uv": true, "poetry": true, "conda": true}

var launcherModules = map[string]bool{"torch.distributed.run": true, "torch.distributed.launch": true,
	"accelerate.commands.launch": true, "deepspeed.launcher.runner": true}

// launches says whether the command is a launcher: by its program, by the script that an interpreter runs, or by -m.
func launches(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if launcherNames[path.Base(args[0])] {
		return true
	}
	if !isPython(args[0]) {
		return false
	}
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-m" && i+1 < len(args):
			return launcherModules[args[i+1]]
		case a == "-c":
			return false
		case !strings.HasPrefix(a, "-"):
			return launcherNames[path.Base(a)]
		}
	}
	return false
}
