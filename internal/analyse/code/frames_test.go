package code

import (
	"testing"

	"bottleneck/internal/model"
)

// A folder in which an environment lies may have the name of a package: what counts is the package below it.
func TestFoldersAroundLibraries(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}}
	c := NewFrameClasses(s, &model.Process{})
	for path, want := range map[string]fileInfo{
		"/opt/torch/.venv/lib/python3.12/site-packages/numpy/_core/fromnumeric.py":    {FileLibrary, ActNumeric, true},
		"/opt/torch/.venv/lib/python3.12/site-packages/torch/optim/adam.py":           {FileTorch, ActOptimizer, true},
		"/opt/torch/lib/python3.12/queue.py":                                          {FileLibrary, ActQueue, false},
		"/srv/wandb/env/lib/python3.12/site-packages/numpy/_core/_methods.py":         {FileLibrary, ActNumeric, true},
		"/home/av/env/lib/python3.12/site-packages/einops/einops.py":                  {FileLibrary, 0, true},
		"/srv/accelerate/lib64/python3.12/site-packages/torch/nn/modules/linear.py":   {FileTorch, 0, true},
		"/usr/lib/python3/dist-packages/torchvision/ops/boxes.py":                     {FileTorch, 0, true},
		"/usr/lib/python3.12/logging/__init__.py":                                     {FileLibrary, ActLogging, false},
		"/env/lib/python3.12/site-packages/lightning/pytorch/loops/training_epoch.py": {FileFramework, 0, true},
		"<frozen importlib._bootstrap>":                                               {FileLibrary, ActImport, false},
		"/home/u/torch/train.py":                                                      {FileUser, 0, false},
	} {
		if got := c.file(s.Strings.Intern(path)); got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}
