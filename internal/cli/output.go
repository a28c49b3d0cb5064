package cli

import (
	"io"
)

// output is standard output of a command that writes a result, and knows whether that could be written: commands end with the same status,
// whatever they were about to write.
type output struct {
	w   io.Writer
	err error // the first one
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// behind is the writer that asks the questions of a terminal.
func behind(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.w
	}
	return w
}
