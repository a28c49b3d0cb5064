package code

import (
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// FileClass tells whose code a source file is.
type FileClass uint8

// Classes of source files.
const (
	FileUser      FileClass = iota // the user's own
	FileTorch                      // PyTorch and its libraries of operators
	FileLibrary                    // the standard library and other installed packages
	FileAgent                      // ours
	FileFramework                  // trainers and metrics around PyTorch: their hooks are Python of somebody's, not the price of operators
)

// Activity marks what a call stack is busy with, as its library frames tell.
type Activity uint16

// Activities of stacks.
const (
	ActCompile    Activity = 1 << iota // torch.compile translating or compiling
	ActLoader                          // inside a DataLoader's __next__
	ActCheckpoint                      // torch.save, torch.load
	ActLogging                         // logging, print through wrappers, progress bars, TensorBoard writers
	ActNetwork                         // sockets, HTTP, object stores
	ActFile                            // file reading or writing by library code
	ActImport                          // importing a module
	ActCollective                      // torch.distributed
	ActBackward                        // autograd's backward
	ActOptimizer                       // an optimizer's step
	ActQueue                           // waiting for a queue, a lock, another process
	ActTorch                           // the innermost frame is PyTorch's own code
	ActServer                          // a server's loop, which waits for requests
	ActWorkers                         // a DataLoader starting or ending its workers
	ActNumeric                         // inside a library of its own native code, which calls no operators of PyTorch
)

// pathActivities maps parts of library paths to activities.
var pathActivities = []struct {
	part string
	act  Activity
}{
	{"/torch/_dynamo/convert_frame.py", ActCompile}, {"/torch/_inductor/compile_fx.py", ActCompile},
	{"/torch/_inductor/graph.py", ActCompile}, {"/torch/utils/data/dataloader.py", ActLoader},
	{"/torch/serialization.py", ActCheckpoint}, {"/safetensors/", ActCheckpoint},
	{"/logging/__init__.py", ActLogging}, {"/tqdm/", ActLogging}, {"/tensorboard/", ActLogging}, {"/tensorboardX/", ActLogging},
	{"/torch/utils/tensorboard/", ActLogging}, {"/wandb/", ActLogging}, {"/mlflow/", ActLogging}, {"/rich/", ActLogging},
	{"/http/client.py", ActNetwork}, {"/urllib/request.py", ActNetwork}, {"/urllib3/", ActNetwork}, {"/requests/", ActNetwork},
	{"/psycopg", ActNetwork}, {"/pymongo/", ActNetwork}, {"/redis/", ActNetwork}, {"/pymysql/", ActNetwork}, {"/aiohttp/", ActNetwork},
	{"/grpc/_channel.py", ActNetwork}, {"/socket.py", ActNetwork}, {"/ssl.py", ActNetwork}, {"/botocore/", ActNetwork},
	{"/fsspec/", ActNetwork}, {"/httpx/", ActNetwork}, {"/shutil.py", ActFile}, {"/tempfile.py", ActFile}, {"/zipfile", ActFile},
	{"/tarfile.py", ActFile}, {"/gzip.py", ActFile}, {"/numpy/lib/npyio.py", ActFile}, {"/numpy/lib/_npyio_impl.py", ActFile},
	{"/pathlib", ActFile}, {"/sqlite3/", ActFile}, {"<frozen importlib._bootstrap", ActImport}, {"/importlib/_bootstrap", ActImport},
	{"/torch/distributed/", ActCollective}, {"/torch/nn/parallel/distributed.py", ActCollective},
	{"/torch/autograd/graph.py", ActBackward}, {"/torch/autograd/__init__.py", ActBackward}, {"/torch/_tensor.py", 0},
	{"/torch/optim/", ActOptimizer},
	{"/queue.py", ActQueue}, {"/multiprocessing/queues.py", ActQueue}, {"/multiprocessing/connection.py", ActQueue},
	{"/multiprocessing/synchronize.py", ActQueue}, {"/threading.py", ActQueue}, {"/subprocess.py", ActQueue}, {"/selectors.py", ActQueue},
	{"/asyncio/base_events.py", ActServer}, {"/socketserver.py", ActServer}, {"/http/server.py", ActServer}, {"/uvicorn/", ActServer},
	{"/werkzeug/serving.py", ActServer}, {"/gunicorn/", ActServer}, {"/tornado/", ActServer}, {"/grpc/_server.py", ActServer},
	{"/concurrent/futures/", ActQueue}, {"/multiprocessing/pool.py", ActQueue}, {"/multiprocessing/popen", ActQueue},
}

// numericPackages compute in native code of their own, mostly without the interpreter's lock.
var numericPackages = []string{"/numpy/", "/scipy/", "/pandas/", "/sklearn/", "/PIL/", "/cv2/", "/skimage/", "/pyarrow/",
	"/polars/", "/numba/", "/librosa/", "/soundfile", "/xgboost/", "/lightgbm/", "/networkx/", "/shapely/", "/rasterio/", "/tokenizers/",
	"/sentencepiece/", "/tiktoken/", "/rdkit/", "/h5py/", "/lmdb/", "/zarr/", "/av/", "/decord/", "/imageio/", "/albumentations/",
	"/faiss/", "/nltk/", "/spacy/", "/mujoco/", "/pygame/", "/matplotlib/", "/statsmodels/", "/msgpack/", "/zstandard/"}

// libraryParts are what paths of installed code contain.
var libraryParts = []string{"/site-packages/", "/dist-packages/", "/lib/python2", "/lib/python3", "/lib64/python3", "/pythonlib/",
	`\lib\`, `\site-packages\`}

// recomputers are files, by the ends of their paths, with functions that keep no activations and compute them again in the backward pass.
var recomputers = []string{"/torch/utils/checkpoint.py", "/activation_checkpointing/checkpointing.py", "/checkpoint_activations.py"}

// ComputesAgain says that a file is PyTorch's, DeepSpeed's or FairScale's checkpointing of activations.
func ComputesAgain(path string) bool {
	return slices.ContainsFunc(recomputers, func(end string) bool { return strings.HasSuffix(path, end) })
}

// frameworks are packages whose loops drive the user's code, or whose objects it calls in them; torchPackages hold operators.
var (
	torchPackages = []string{"/torch/", "/torchvision/", "/torchaudio/"}
	frameworks    = []string{"/lightning/", "/pytorch_lightning/", "/lightning_fabric/", "/accelerate/", "/ignite/", "/deepspeed/",
		"/torchmetrics/",
		"/lightning_utilities/"}
)

// ClassifyFile tells whose code a path is.
func ClassifyFile(path string) FileClass {
	switch {
	case strings.Contains(path, "/_bneck_agent/") || path == "<bottleneck>/start.py" || strings.HasSuffix(path, "/agent/sitecustomize.py"):
		return FileAgent
	case path == "" || strings.HasPrefix(path, "<"):
		return FileLibrary
	}
	for _, part := range libraryParts {
		if strings.Contains(path, part) {
			return classOfInstalled(path)
		}
	}
	return FileUser
}

// installed cuts off where libraries are kept, so that a folder's name there, as in /opt/torch/.venv/lib/python3.12/site-packages/, does
// not pass for a package's. It leaves other paths as they are.
func installed(path string) string {
	kept, packages := -1, false
	for _, part := range libraryParts {
		at := strings.Index(path, part)
		if at < 0 {
			continue
		}
		// Packages lie deeper than the standard library, in one of its folders.
		if of := strings.Contains(part, "-packages"); kept < 0 || of && !packages {
			kept, packages = at+len(strings.TrimRight(part, `/\`)), of
		}
	}
	return path[max(kept, 0):]
}

// classOfInstalled tells PyTorch's packages and those around it from others.
func classOfInstalled(path string) FileClass {
	path = installed(path)
	holds := func(name string) bool { return strings.Contains(path, name) }
	switch {
	case slices.ContainsFunc(frameworks, holds):
		return FileFramework
	case slices.ContainsFunc(torchPackages, holds):
		return FileTorch
	}
	return FileLibrary
}

// FrameClasses caches what files and stacks of one process mean.
type FrameClasses struct {
	Strings *model.Strings
	Stacks  *model.Stacks
	sources map[string]*model.Source
	texts   map[model.Str]bool // names of texts that the program ran, such as the cells of a notebook
	ownFrom model.Frame        // the user's line that calls that package, where one does
	own     string             // how paths of the package begin that is the program itself; "" where none is
	files   map[model.Str]fileInfo
	stacks  map[model.StackID]StackInfo
}

type fileInfo struct {
	class     FileClass
	act       Activity
	installed bool // a package, not the standard library
}

// StackInfo is what one call stack is.
type StackInfo struct {
	Acts     Activity
	User     model.FrameID // innermost frame of the user's code, -1 where there is none
	Inner    FileClass     // of the innermost frame
	InnerFr  model.FrameID // innermost frame
	Owner    model.FrameID // innermost frame that is neither PyTorch's nor the standard library's: whose code runs, -1 where there is none
	UserLeaf bool          // the innermost frame is the user's
	Imports  bool          // the user's code, or none, imports a module at that moment
}

// NewFrameClasses prepares the classes of a process's stacks.
func NewFrameClasses(s *model.Session, p *model.Process) *FrameClasses {
	own, from := ownPackage(s.Strings, &p.Samples, s.Sources)
	return &FrameClasses{Strings: s.Strings, Stacks: &p.Samples.Stacks, sources: s.Sources, own: own, ownFrom: from,
		texts: ranTexts(s.Strings, p.Samples.Stacks.Frames), files: map[model.Str]fileInfo{}, stacks: map[model.StackID]StackInfo{}}
}

// ranTexts finds names in angle brackets under which a module's body was seen to run: a notebook's cell, a script given to
// exec, python -c. Code that libraries generate defines functions and is gone, so that no body of it runs.
func ranTexts(strs *model.Strings, frames []model.Frame) map[model.Str]bool {
	var out map[model.Str]bool
	for i := range frames {
		name := strs.Text(frames[i].File)
		if !strings.HasPrefix(name, "<") || strings.HasPrefix(name, "<frozen ") || strs.Text(frames[i].Function) != "<module>" ||
			ClassifyFile(name) == FileAgent { // its modules run, too, when a sample happens to see them
			continue
		}
		if out == nil {
			out = map[model.Str]bool{}
		}
		out[frames[i].File] = true
	}
	return out
}

func (c *FrameClasses) file(id model.Str) fileInfo {
	if f, ok := c.files[id]; ok {
		return f
	}
	path := c.Strings.Text(id)
	f := fileInfo{class: ClassifyFile(path), installed: strings.Contains(path, "-packages/") || strings.Contains(path, `-packages\`)}
	if c.texts[id] || c.IsOwn(path) {
		f.class = FileUser
	}
	path = installed(path)
	if f.class != FileUser {
		for _, pa := range pathActivities {
			if strings.Contains(path, pa.part) {
				f.act |= pa.act
			}
		}
	}
	if f.class == FileLibrary && slices.ContainsFunc(numericPackages, func(name string) bool { return strings.Contains(path, name) }) {
		f.act |= ActNumeric
	}
	c.files[id] = f
	return f
}

// File tells whose code a frame's file is.
func (c *FrameClasses) File(id model.Str) FileClass { return c.file(id).class }

// Does tells what code of a file is busy with.
func (c *FrameClasses) Does(id model.Str) Activity { return c.file(id).act }

// MaxStackDepth bounds the walk along a stack: damaged parents must not loop.
const MaxStackDepth = 4096

// Walk calls f for the frames of a stack, innermost first, until f returns false.
func (c *FrameClasses) Walk(id model.StackID, f func(model.FrameID) bool) {
	for depth := 0; id >= 0 && int(id) < len(c.Stacks.Frame) && depth < MaxStackDepth; depth++ {
		fr := c.Stacks.Frame[id]
		if fr < 0 || int(fr) >= len(c.Stacks.Frames) || !f(fr) {
			return
		}
		parent := c.Stacks.Parent[id]
		if parent == id {
			return
		}
		id = parent
	}
}

// Info classifies a stack, once.
func (c *FrameClasses) Info(id model.StackID) StackInfo {
	if info, ok := c.stacks[id]; ok {
		return info
	}
	info := StackInfo{User: -1, InnerFr: -1, Owner: -1, Inner: FileLibrary}
	called := closure{c: c, inner: -1}
	c.Walk(id, func(fr model.FrameID) bool {
		f := c.file(c.Stacks.Frames[fr].File)
		if f.class == FileAgent {
			return true
		}
		if c.begins(fr) {
			return false
		}
		if f.act&ActCompile != 0 && c.Strings.Text(c.Stacks.Frames[fr].Function) == "<module>" {
			f.act &^= ActCompile // the compiler is imported: nothing is compiled yet
		}
		if info.InnerFr < 0 {
			info.InnerFr, info.Inner = fr, f.class
			if f.class == FileTorch {
				info.Acts |= ActTorch
			}
			info.Acts |= f.act & ActNumeric
		}
		if f.class == FileUser && info.User < 0 {
			info.User = fr
			info.UserLeaf = fr == info.InnerFr
		}
		if foreign := f.class != FileTorch && (f.class != FileLibrary || f.installed); foreign {
			if info.Owner < 0 {
				info.Owner = fr
			}
			called.inner = fr
		}
		if f.act&ActOptimizer != 0 && called.from(fr) {
			return true // what an optimizer calls back (a closure, a hook, a schedule) is not the optimizer's
		}
		if f.act == ActLoader {
			if name := c.Strings.Text(c.Stacks.Frames[fr].Function); startsWorkers(name) {
				info.Acts |= ActWorkers
				return true
			} else if !strings.Contains(name, "__next__") && !strings.Contains(name, "_next_data") {
				return true
			}
		}
		info.Imports = info.Imports || info.User < 0 && f.act&ActImport != 0
		// Below the user's frame only what the user's code runs inside of matters: a loader or a compilation around it.
		if info.User < 0 || f.act&(ActLoader|ActImport|ActCompile|ActBackward|ActOptimizer) != 0 {
			info.Acts |= f.act
		}
		return true
	})
	c.stacks[id] = info
	return info
}

// begins says that a frame is the first one of a process of multiprocessing's. Where it was forked, its parent's frames lie below, which
// it has left for good.
func (c *FrameClasses) begins(fr model.FrameID) bool {
	f := &c.Stacks.Frames[fr]
	return strings.HasSuffix(c.Strings.Text(f.Function), "_bootstrap") &&
		strings.HasSuffix(c.Strings.Text(f.File), "/multiprocessing/process.py")
}

// InEventLoop says that a loop of asyncio, or of one that stands in for it, runs the user's code of a stack: a call that sleeps there
// holds up every other coroutine. Where the loop itself waits, inside of what a coroutine awaits, nothing is held up.
func (c *FrameClasses) InEventLoop(id model.StackID) bool {
	inner, loop := false, false
	c.Walk(id, func(fr model.FrameID) bool {
		file := c.Stacks.Frames[fr].File
		if c.file(file).class == FileUser {
			inner = true
			return true
		}
		path := c.Strings.Text(file)
		if !inner && strings.HasSuffix(path, "/asyncio/base_events.py") {
			return false
		}
		loop = inner && (strings.Contains(path, "/asyncio/") || strings.Contains(path, "/uvloop/"))
		return !loop
	})
	return loop
}

// startsWorkers says that a function of the DataLoader's file, by its name or qualified name, makes an iterator or ends one.
func startsWorkers(name string) bool {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "__init__", "__iter__", "_get_iterator", "_shutdown_workers", "__del__":
		return true
	}
	return false
}

// Source is the text of a line, "" where the session does not hold it.
func (c *FrameClasses) Source(file string, line int) string { return SourceLine(c.sources, file, line) }

// line is the text of a frame's running line.
func (c *FrameClasses) line(id model.FrameID) string {
	fr := c.Stacks.Frames[id]
	return c.Source(c.Strings.Text(fr.File), int(fr.Line))
}

// SourceLine is the trimmed text of a line of a kept source.
func SourceLine(sources map[string]*model.Source, file string, line int) string {
	src := sources[file]
	if src == nil || line < 1 || line > len(src.Lines) {
		return ""
	}
	return strings.TrimSpace(src.Lines[line-1])
}
