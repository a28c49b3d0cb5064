// Package page turns a session and its report into what the page draws: the verdict with its findings as cards, tables in columns,
// trees of stacks and the timeline's tiles. Each is a part with a name; package web sends parts when the page asks for them, package
// export puts them into a file. The types here are the page's types too: internal/ui/src/payload.ts is made of them, and a test holds
// both together.
//
// It does not read files, listen, or know HTML: names go out as they are, and the page shows them as text.
package page
