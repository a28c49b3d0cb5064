package record

import "strings"

// traceRule is of a trace as Kineto writes it. Keys that a program adds (add_metadata) go with their values.
var (
	traceRule = object(with(publicNumbers("header"), members{
		"displayTimeUnit": texts(oneOf("ms ns us", "unit")), "deviceProperties": deviceRule, "computeProperties": deviceRule,
		"torch_version": version, "pytorch_version": version, "host_name": host, "distributedInfo": distributedRule,
		"traceEvents": list(eventRule),
	}))
	deviceRule      = list(object(with(publicNumbers("device"), members{"name": device})))
	distributedRule = object(with(numbers("pg_count"), members{"rank": digits, "world_size": digits, "nccl_version": version,
		"backend":   backend,
		"pg_config": list(object(with(numbers("pg_size"), members{"pg_name": group, "pg_desc": group, "ranks": plain})))}))
	backend = texts(matching(`(?:(?:[a-z]{1,8}:)?(?:nccl|gloo|mpi|ucc|xccl|hccl|undefined),?)+`, "backend"))
	group   = texts(matching(`\d{1,6}|default_pg|undefined|mesh_[a-z]{2,4}`, "group"))

	eventRule = object(members{
		"ph": texts(matching(`[A-Za-z]`, "phase")), "s": texts(matching(`[a-z]`, "scope")), "bp": texts(matching(`[a-z]`, "point")),
		"cat": texts(oneOf(strings.Join(public["categories"], " "), "category")), "name": event, "sort_index": number,
		"ts": plain, "dur": plain, "id": identity, "tid": identity, "pid": identity, "args": traceArguments,
	})
	identity = &rule{number: true, text: func(r *Redactor, s string) string {
		if identityForm(r, s) == s {
			return s
		}
		return r.thread(s)
	}}
	identityForm = matching(`-?\d{1,20}|0x[0-9a-f]{1,16}|Spans|Traces|PyTorch Profiler(?: \(\d+\))?|(?:CPU|CUDA) functions|stream \d+`,
		"id")

	traceArguments = object(with(argumentNumbers(), members{
		"Input Dims": nested, "Input dims": nested, "Input Strides": nested, "Output dims": nested, "grid": nested, "block": nested,
		"Input type": types, "Output type": types, "Concrete Inputs": plain,
		"Call stack": texts((*Redactor).stack), "Module Hierarchy": action,
		"name": texts((*Redactor).thread), "labels": texts((*Redactor).thread),
		"Collective name": texts(collective), "dtype": types, "Process Group Ranks": plain, "In split size": plain, "Out split size": plain,
		"Process Group Name": group, "Process Group Description": group, "Process Group ID": group,
		"kernel_backend": texts(oneOf("triton extern cpp", "backend")), "kernel_file": filePath, "kernel_kwargs": action,
		"num_warps": digits, "num_stages": digits, "stream": identity,
	}))
)

// publicNumbers are the members of a section of public.txt that hold numbers.
func publicNumbers(section string) members { return numbers(strings.Join(public[section], " ")) }

// argumentNumbers are the arguments of events that hold numbers.
func argumentNumbers() members {
	out := members{}
	for _, key := range public["arguments"] {
		out[key] = digits
		out[strings.ReplaceAll(key, "_", " ")] = digits
	}
	return out
}

// collective keeps the name of an operation of torch.distributed.
var collective = matching(`_?(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|send|recv|reduce|gather|scatter|barrier|`+
	`coalesced|base|into_tensor|tensor|oop|v|single|_)+`, "collective")
