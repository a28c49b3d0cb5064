package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"

	"bottleneck/internal/ui"
)

func main() {
	modules := flag.String("modules", "", "folder of the libraries (node_modules)")
	flag.Parse()
	if err := run(flag.Arg(0), *modules); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// run bundles the sources below room, internal/ui, into its dist.
func run(room, modules string) error {
	files, err := bundle(room, modules)
	if err != nil {
		return err
	}
	sum, err := ui.Sum(os.DirFS(room))
	if err != nil {
		return err
	}
	files[ui.SumFile] = []byte(sum + "\n")
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(room, "dist", name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// bundle makes the files of dist by name.
func bundle(room, modules string) (map[string][]byte, error) {
	room, err := filepath.Abs(room)
	if err != nil {
		return nil, err
	}
	result := api.Build(api.BuildOptions{
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "src/main.tsx", OutputPath: "page"},
			{InputPath: "src/page.css", OutputPath: "page"},
		},
		AbsWorkingDir: room, Outdir: "dist", Bundle: true, NodePaths: []string{modules},
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, Charset: api.CharsetUTF8,
		LegalComments: api.LegalCommentsInline, Target: api.ES2022, Format: api.FormatIIFE, JSX: api.JSXAutomatic,
		JSXImportSource: "preact", LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(result.Errors[0].Text)
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	files["index.html"], err = os.ReadFile(filepath.Join(room, "src", "index.html"))
	return files, err
}
