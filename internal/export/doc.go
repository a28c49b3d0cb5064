// Package export writes a session in the forms that other tools read. Formats lists them; each Format's Write streams one
// form to a writer, from the columns of the model and without a second copy of them, so that the size of an output has
// no bound of its own.
//
// It does not open inputs or decide what is slow.
package export
