// Package pickle reads Python pickles of plain data: numbers, texts, tuples, lists, dictionaries, and the names and
// attributes of plain instances where the caller allows them. It is a machine for the operations of protocols 2 to 5 (Python,
// Lib/pickletools.py) that goes over the text once: values are eight bytes each, and a caller may turn dictionaries and
// lists into rows of its own as they are completed (Rows), so that a file of a gigabyte needs a fraction of that.
//
// It does not import, call or make anything that a pickle names.
package pickle
