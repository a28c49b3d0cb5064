package record

import (
	"encoding/json"
	"regexp"
	"strings"
)

// rule says what of a JSON value may stay. Without one (nil) texts become empty, numbers 0, literals null and keys numbered.
type rule struct {
	text    func(*Redactor, string) string // how a text is replaced; nil: it goes
	number  bool                           // numbers and literals stay
	members map[string]*rule               // of an object
	key     func(*Redactor, string) string // how other members' keys are replaced; nil: they go, and so do their values
	other   *rule                          // of those members
	items   []*rule                        // of an array, by place; the last holds for all that follow
	rows    map[string]*rule               // of an array whose first text says what it is
	lines   bool                           // the file is a sequence of values, one on each line
}

// member is the rule of an object's member and its key.
func (u *rule) member(r *Redactor, key string) (string, *rule) {
	if u == nil {
		return r.name("key", key), nil
	}
	if m := u.members[key]; m != nil {
		return key, m
	}
	if u.key == nil {
		return r.name("key", key), nil
	}
	return u.key(r, key), u.other
}

// item is the rule of an array's element.
func (u *rule) item(i int) *rule {
	if u == nil || len(u.items) == 0 {
		return nil
	}
	return u.items[min(i, len(u.items)-1)]
}

type members = map[string]*rule

func texts(f func(*Redactor, string) string) *rule { return &rule{text: f} }
func object(m members) *rule                       { return &rule{members: m} }
func list(items ...*rule) *rule                    { return &rule{items: items} }

// with adds members to those of others.
func with(base members, more members) members {
	out := members{}
	for _, m := range []members{base, more} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// numbers are members that hold numbers, true or false.
func numbers(keys string) members {
	out := members{}
	for key := range words(keys) {
		out[key] = number
	}
	return out
}

var (
	number   = &rule{number: true}
	nested   = &rule{number: true} // numbers in arrays of any depth
	host     = texts(named("host"))
	version  = texts(matching(versionForm, "version"))
	schema   = texts(matching(`bottleneck\.[a-z-]+/\d+`, "schema"))
	filePath = texts(func(r *Redactor, s string) string { s, _ = r.path(s); return s })
	folder   = texts(func(r *Redactor, s string) string { return r.folders(s, s) })
	args     = list(texts((*Redactor).argument))
	event    = texts((*Redactor).event)
	setting  = texts((*Redactor).setting)
	code     = texts(matching(`[a-z][a-z-]{0,40}`, "code"))
	left     = texts(func(*Redactor, string) string { return "(a text that was left out)" })
	device   = texts(matching(`(?:NVIDIA|Tesla|GeForce|Quadro|AMD|Intel|Apple|Radeon|Instinct|Graphics Device)[\w ().@/-]{0,80}`, "device"))
	cpu      = texts(matching(`(?:Intel|AMD|ARM|Apple|Ampere|Neoverse|POWER|IBM|VirtualApple|NVIDIA|Grace|AWS|Graviton|Common KVM|QEMU)`+
		`[\w ().@/+-]{0,80}|[A-Z][\w-]{0,20} (?:EPYC|Xeon)[\w ().@/-]{0,60}`, "cpu"))
	role   = texts(oneOf("main rank worker compile launcher other", "role"))
	state  = texts(oneOf("warmup baseline trace detail edge", "phase"))
	stepOf = texts(oneOf("train validation test inference predict eval other rest none mark profiler-step trainer optimizer "+
		"dataloader period", "kind"))
	action = texts((*Redactor).identifiers)
	types  = typesRule()
	plain  = texts(matching(`[\s\[\](),0-9eE+.:-]*|True|False|None|inf|-inf|nan|strided`, "value"))
	digits = texts(matching(`-?\d{1,20}`, "group"))
	keep   = func(_ *Redactor, s string) string { return s }
)

// versionForm is a version without the name of somebody's own build.
const versionForm = `devel(?:-[0-9a-f]{12})?\+?|v?\d+(?:\.\d+){0,4}(?:[._-]?(?:a|b|rc|alpha|beta|post|dev|git)\d*)*` +
	`(?:\+(?:cu\d+|cpu|xpu|rocm[\d.]+|git[0-9a-f]+|[0-9a-f]{7,40}|debian|ubuntu))?`

func init() {
	nested.items = []*rule{nested}
	traceRule.items = []*rule{eventRule} // a trace may be the bare list of its events
	plain.items = []*rule{plain}
	plain.number = true
	digits.number = true
}

// typesRule keeps the names of tensors' types and of arguments' kinds.
func typesRule() *rule {
	u := texts(matching(`(?:(?:const )?(?:c10::)?(?:float|double|half|Half|BFloat16|bfloat16|int|long|long int|long long|short|char|`+
		`signed char|unsigned char|byte|bool|complex(?:Float|Double|<\w+>)|Float8_e\w{3,8}|Float4_\w{3,10}|float\d+\w*|u?int\d+(?:_t)?|`+
		`QInt8|QUInt8|qint\w*|quint\w*|None|Scalar|ScalarList|Tensor|TensorList|GenericList|Float|Double|BFloat|Int|Long|Short|Char|Byte|Bool)`+
		`(?:\[\])?[,;\[\] ]*)*`, "type"))
	u.items = []*rule{u}
	return u
}

// files are the rules of a session's files by name: those at its top, and those of launchers and processes.
var (
	topFiles = members{
		ManifestName: object(with(numbers("created_unix_ns redacted"), members{
			"schema": schema, "job": texts(named("job")), "command": args, "host": host, "bottleneck": version})),
		MeasuredName: object(with(numbers("tolerance"), members{"schema": schema,
			"prices": list(object(with(numbers("saved_ms of_ms ops"), members{"fix": fix}))),
			"ops": list(object(with(numbers("per_step recorded_us repeated_us reproduced"),
				members{"op": event, "shapes": plain, "why": left,
					"fixes": list(object(with(numbers("us"), members{"fix": fix})))})))})),
	}
	fix         = texts(matching(`(?:threads|cores)=\d+|bf16|fp16|float32|tf32|channels[-_]last|lower precision`, "fix"))
	folderFiles = []struct {
		name *regexp.Regexp
		rule *rule
	}{
		{exactly(LauncherName), launcherRule},
		{exactly(ProcessName), processRule},
		{exactly("events.jsonl.gz"), &rule{rows: eventRows, lines: true}},
		{exactly(TreeName), &rule{rows: treeRows, lines: true}},
		{exactly(ActionCallsName), actionCallsRule},
		{exactly(LinesName), linesRule},
		{regexp.MustCompile(`^trace-(own-)?\d+\.json(\.gz)?$`), traceRule},
		{regexp.MustCompile(`^modules-\d+\.json\.gz$`), modulesRule},
		{regexp.MustCompile(`^memory-\d+-[a-z]+(-\d+)?\.json\.gz$`), nested},
	}
)

func exactly(name string) *regexp.Regexp {
	return regexp.MustCompile(`^` + regexp.QuoteMeta(name) + `$`)
}

// ruleOf is the rule of a file, nil for one that goes as a whole.
func ruleOf(base string, top bool) *rule {
	if top {
		return topFiles[base]
	}
	for _, f := range folderFiles {
		if f.name.MatchString(base) {
			return f.rule
		}
	}
	return nil
}

var (
	threadSettings = &rule{other: setting, key: oneOf(strings.Join(public["settings"], " "), "setting")}
	signal         = texts(matching(`SIG[A-Z0-9]{2,8}|signal \d+`, "signal"))
	reason         = texts(matching(`exit|exec|exception|signal|os\._exit|SIG[A-Z]{2,6}`, "reason"))
	spanOf         = texts(oneOf("gc compile import io region action optimizer profiler other", "kind"))
	traceName      = texts(matching(`trace-\d+\.json(?:\.gz)?`, "file"))
	loader         = object(with(numbers("workers batch_size prefetch pin persistent iterable length line"),
		members{"dataset": action, "file": filePath}))
	flagsRule = &rule{other: nil, members: flagMembers(), key: named("flag")}
	machine   = object(with(numbers("unix_ns cpus cpu_quota throttled_ns cgroup_version memory_bytes oom_kills shm_bytes shm_free_bytes "+
		"load_per_core cpu_busy_ns"), members{
		"os": texts((*Redactor).system), "huge_pages": texts(oneOf("always madvise never", "huge_pages")), "cpu_model": cpu, "affinity": nested, "thread_settings": threadSettings,
		"gpus": list(object(with(numbers("index memory_bytes clock_mhz max_clock_mhz utilisation memory_used_bytes"), members{
			"name": device, "processes": nested, "power_state": texts(matching(`P\d{1,2}`, "state"))})))}))
	launcherRule = object(with(numbers("pid rank start_unix_ns start_mono_ns child_pid"), members{
		"schema": schema, "host": host, "bottleneck": version, "job": texts(named("job")), "command": args,
		"target": texts(oneOf("script module command", "target")), "interpreter": filePath, "cwd": folder, "flags": flagsRule,
		"machine_before": machine, "machine_after": machine,
		"exit":  object(with(numbers("unix_ns code user_s system_s max_rss_bytes"), members{"signal": signal})),
		"own":   object(numbers("cpu_ns sampler_cpu_ns peak_rss_bytes")),
		"notes": list(object(members{"code": code, "text": left}))}))
	gpus        = list(object(with(numbers("index memory_bytes compute_major compute_minor sms"), members{"name": device})))
	processRule = object(with(numbers("pid ppid start_unix_ns start_mono_ns rank local_rank world_size worker_index consumer main_thread "+
		"helper measuring_over"), members{
		"schema": schema, "host": host, "role": role, "argv": args, "executable": filePath, "python": version,
		"cwd": folder, "threads_env": threadSettings, "gpus": gpus, "libc": texts(matching(`glibc \d+\.\d+(?:\.\d+)?`, "libc")),
		"packages": {key: func(r *Redactor, s string) string {
			if publicModules[s] {
				return s
			}
			return r.name("package", s)
		}, other: version},
		"counters": {key: (*Redactor).counter, other: number},
		"torch": object(with(numbers("debug num_threads num_interop_threads kineto"),
			members{"version": version, "cuda": version, "hip": version,
				"git": texts(matching(`[0-9a-f]{7,40}`, "commit"))})),
		"gpu_profiling": object(with(numbers("asked admin_only privileged"), members{"cupti": filePath, "taken_by": filePath})),
		"exit":          object(with(numbers("unix_ns"), members{"reason": reason})),
		"agent":         object(with(numbers("cpu_ns longest_pause_ns"), members{"version": version})),
	}))
	treeRows = map[string]*rule{
		"clock": list(texts(keep), number), "gone": list(texts(keep), number),
		"proc":   list(texts(keep), number, number, number, number, args, filePath),
		"limits": list(texts(keep), number, numbersOnly), "use": list(texts(keep), number), "own": list(texts(keep), number),
		"allocator": list(texts(keep), number, number, texts(matching(`[a-z]{0,16}`, "allocator"))),
		"sampler":   list(texts(keep), number, numbersOnly),
	}
	numbersOnly = &rule{other: number, key: matching(`[a-z][a-z_]{0,40}`, "key")}
	eventRows   = map[string]*rule{
		"clock": list(texts(keep), number), "wait": list(texts(keep), number), "fetch": list(texts(keep), number),
		"queue": list(texts(keep), number), "sample": list(texts(keep), number),
		"held": list(texts(keep), number), "pages": list(texts(keep), number), "updates": list(texts(keep), number),
		"saved":    list(texts(keep), number, number, number, number, number, filePath, number),
		"asked":    list(texts(keep), number, number, texts(named("inputs")), number, number, filePath, number),
		"part":     list(texts(keep), number, number, texts(named("inputs")), number, number, filePath, number),
		"unused":   list(texts(keep), number, number, texts((*Redactor).functionAnywhere), filePath, number, nested),
		"denormal": list(texts(keep), number, texts((*Redactor).functionAnywhere), filePath, number),
		"jacobian": list(texts(keep), number, number, number, number, number, number, filePath, number),
		"padding":  list(texts(keep), number, number, number, number, number, number, filePath, number),
		"step":     list(texts(keep), number, stepOf, stepOf, number, number, state, number),
		"loader":   list(texts(keep), number, loader),
		"span":     list(texts(keep), spanOf, number, number, number, action, filePath, number, left, number),
		"window":   list(texts(keep), number, state, number, number, number, number, number, number, traceName, left),
		"stack":    list(texts(keep), number, list(list(texts((*Redactor).functionAnywhere), filePath, number))),
		"note":     list(texts(keep), number, code, left),
		"count":    list(texts(keep), texts((*Redactor).counter), number),
	}
	actionCallsRule = object(members{"schema": schema, "functions": list(list(filePath, number, texts((*Redactor).functionAnywhere))),
		"actions": list(object(with(numbers("measured"), members{"name": action, "functions": nested})))})
	linesRule = object(with(numbers("cost_ns"), members{"schema": schema,
		"functions": list(list(filePath, number, texts((*Redactor).functionAnywhere), nested))}))
	modulesRule = object(with(numbers("start_unix_ns full"), members{"schema": schema, "names": list(list(action)),
		"threads": {key: matching(`\d{1,20}`, "thread"), other: nested}}))
)

// flagMembers are our own flags whose values are numbers, times, sizes and words of ours.
func flagMembers() members {
	out := members{}
	for _, name := range public["flags"] {
		out[name] = setting
	}
	return out
}

// system keeps the kernel's name, number and architecture; what follows the number may be somebody's own.
func (r *Redactor) system(s string) string {
	m := systemForm().FindStringSubmatch(s)
	if m == nil {
		return r.name("system", s)
	}
	return m[1] + m[2]
}

var systemForm = lazy(`^((?:Linux|Darwin|Windows|FreeBSD)(?: \d+(?:\.\d+){0,3})?|(?:linux|darwin|windows|freebsd)/\w{1,12})` +
	`\S*( x86_64| aarch64| arm64)?$`)

func (r *Redactor) functionAnywhere(s string) string { return r.function(s, false) }

// counter keeps our own counters; the name of a trainer's action is replaced as in its rows.
func (r *Redactor) counter(s string) string {
	if kind, action, ok := strings.Cut(s, ":"); ok && strings.HasPrefix(kind, "action_") {
		return kind + ":" + r.identifiers(action)
	}
	return ownCounter(r, s)
}

var ownCounter = oneOf(strings.Join(public["counters"], " "), "counter")

// quote writes a JSON string as Kineto does, with <, > and & as they are.
func quote(s string) []byte {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always has a JSON form
	return []byte(strings.TrimRight(b.String(), "\n"))
}
