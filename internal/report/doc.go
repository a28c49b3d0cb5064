// Package report builds the report document of a session: what analyses gave, reduced to rows, the findings and the verdict. Text, page,
// JSON and comparisons show the same document, so a number cannot differ between them.
//
// It does not read files, start or measure anything, lay out text, or decide a cause: package analyse/cause does.
package report
