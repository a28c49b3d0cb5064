// Package browser opens the real browser of the machine for tests and measurements of the page.
//
// It does not judge what it sees.
package browser
