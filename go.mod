module bottleneck

go 1.26.0

require (
	github.com/chromedp/cdproto v0.159.0 // tests: the commands and events of the browser's protocol
	github.com/chromedp/chromedp v0.23.0 // tests and bench: the page in a real browser
	github.com/elastic/go-seccomp-bpf v1.6.0 // commands that read give up calls that they never make: the filter for seccomp
	github.com/evanw/esbuild v0.28.2 // make ui: bundles the page's TypeScript; no part of the binary
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe // encodes profiles for go tool pprof and everything that reads its format
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724 // readable names of C++ and Rust functions in native stacks
	github.com/klauspost/compress v1.20.3 // gzip and zstd, faster than the standard library's gzip
	github.com/landlock-lsm/go-landlock v0.11.0 // commands that read give up all files but their own, in every thread
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // tests: every --json output is validated against docs/report.schema.json
	github.com/schollz/progressbar/v3 v3.19.1 // progress on a terminal for work over half a second
	github.com/spf13/cobra v1.10.2 // subcommands, completion, man pages
	github.com/spf13/pflag v1.0.9 // GNU flags beneath cobra: visiting those that were given
	golang.org/x/sys v0.49.0 // affinity, file systems, terminals: what package syscall lacks
	golang.org/x/term v0.47.0 // terminal width
	gonum.org/v1/gonum v0.17.0 // bench: special functions and Student's t for what few pairs show
	google.golang.org/protobuf v1.36.12 // wire format of the OpenTelemetry profiles that samples are stored in, and of Perfetto traces
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/net v0.41.0 // indirect
	golang.org/x/text v0.26.0 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.77 // indirect
)
