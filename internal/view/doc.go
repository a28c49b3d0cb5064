// Package view turns a session into what a person or a script reads: the report document (Report, written as JSON by WriteJSON),
// its text form (WriteText), and the units and wording that both share. Text and web pages show the same Report, so a
// number cannot differ between them.
//
// It does not read files, start anything or measure anything, and it decides no cause: package analyse/cause does.
package view
