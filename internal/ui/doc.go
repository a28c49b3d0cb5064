// Package ui holds the page: its sources in src, and what is made of them in dist, which is part of the binary. `make ui` makes dist
// anew; tests say when that was forgotten.
//
// It does not know sessions or reports: package page makes the data, web sends them, export puts them into a file.
package ui
