// Command bundle makes the page's files in internal/ui/dist of its sources: TypeScript, style and HTML, with esbuild. It also writes
// down what they were made of, so that a test can say whether they are fresh.
//
// It does not check types and fetches nothing: scripts/ui.sh does both before.
package main
