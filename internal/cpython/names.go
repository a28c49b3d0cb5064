package cpython

import (
	"fmt"

	"bottleneck/internal/proc"
)

// maxThreadName bounds a thread's name, in code points.
const maxThreadName = 256

// ThreadNames reads the names of the threads that the module threading knows, by their ident (threading.get_ident). An
// interpreter that has not imported it has none. Names of threads that begin or end meanwhile may be missing.
func (r *Reader) ThreadNames() (map[uint64]string, error) {
	names := map[uint64]string{}
	for _, in := range r.interp {
		active, err := r.activeThreads(in.addr)
		if err != nil {
			return names, fmt.Errorf("names of threads: %w", err)
		}
		if active == 0 {
			continue
		}
		list, err := r.dictItems(active)
		if err != nil {
			return names, fmt.Errorf("names of threads: %w", err)
		}
		for _, e := range list[:min(len(list), maxThreads)] {
			if e.key == 0 || e.value == 0 {
				continue
			}
			ident, err := r.integer(e.key)
			if err != nil || !ident.IsUint64() {
				continue
			}
			if name := r.threadName(e.value); name != "" {
				names[ident.Uint64()] = name
			}
		}
	}
	return names, nil
}

func (r *Reader) threadName(thread uint64) string {
	v, err := r.attribute(thread, "_name")
	if err != nil || v == 0 {
		return ""
	}
	name, err := readText(r.mem, &r.l.Object, v)
	if err != nil || len(name) > 4*maxThreadName {
		return ""
	}
	return name
}

// activeThreads is the dictionary threading._active of an interpreter, 0 where threading was not imported. It is found
// once: the module keeps it.
func (r *Reader) activeThreads(interp uint64) (uint64, error) {
	if at := r.active[interp]; at != 0 {
		return at, nil
	}
	names, err := r.moduleNames(interp, "threading")
	if err != nil || names == 0 {
		return 0, err
	}
	at, err := r.dictGet(names, "_active")
	if err != nil || at == 0 {
		return 0, err
	}
	if r.active == nil {
		r.active = map[uint64]uint64{}
	}
	r.active[interp] = at
	return at, nil
}

// moduleNames is the dictionary of an imported module, 0 where it was not imported.
func (r *Reader) moduleNames(interp uint64, name string) (uint64, error) {
	if r.l.Interp.Modules == none {
		return 0, nil
	}
	modules, err := proc.U64(r.mem, interp+uint64(r.l.Interp.Modules))
	if err != nil || modules == 0 {
		return 0, err
	}
	module, err := r.dictGet(modules, name)
	if err != nil || module == 0 {
		return 0, err
	}
	return proc.U64(r.mem, module+uint64(r.l.Object.Header))
}
