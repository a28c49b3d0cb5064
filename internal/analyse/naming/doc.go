// Package naming says what names mean: of operators (OpKind), of device work (KernelClass), of calls of the device's
// runtime (CallClass), and of events that torch itself writes (EventClass). Each question about a name has its one answer
// here, and the classes of a session's names are remembered by their number.
//
// It does not look at times or at where an event stands.
package naming
