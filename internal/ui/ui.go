package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
)

//go:embed dist
var dist embed.FS

// Files of the page, in dist.
const (
	IndexFile  = "index.html"
	ScriptFile = "page.js"
	StyleFile  = "page.css"
	SumFile    = "sources.sha256" // what the others were made of
)

// What in IndexFile is replaced where the page is to be one file.
const (
	Head       = `<meta charset="utf-8">`
	StyleLink  = `<link rel="stylesheet" href="page.css">`
	ScriptLink = `<script src="page.js"></script>`
)

// File gives one file of the page.
func File(name string) []byte {
	text, err := dist.ReadFile("dist/" + name)
	if err != nil {
		panic(fmt.Sprintf("ui: %v", err)) // it is in the binary, or the build was of something else
	}
	return text
}

// Sum is the hash of all that the page's files are made of, in room, the folder internal/ui.
func Sum(room fs.FS) (string, error) {
	h := sha256.New()
	add := func(name string) error {
		text, err := fs.ReadFile(room, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(text))
		h.Write(text)
		return nil
	}
	err := fs.WalkDir(room, "src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(name)
	})
	for _, name := range []string{"package-lock.json", "tsconfig.json", "bundle/main.go"} {
		if err == nil {
			err = add(name)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), err
}
