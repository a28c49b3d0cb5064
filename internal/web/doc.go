// Package web serves the page to browsers and guards it: who may ask (a token in the address, the names of the host, the origin), and
// what a browser may do with the answers (a strict Content-Security-Policy). Every address is relative, so that the page also works
// beneath another server's path. It gets the data as parts from whoever made them.
//
// It does not read files or sessions, start programs, or change anything: a request can only read what was handed over.
package web
