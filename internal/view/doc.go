// Package view writes report documents, comparisons and what-if answers as text for a screen, and torch's and Lightning's own tables.
//
// It does not build the documents (package report does), read files, start anything or measure anything.
package view
