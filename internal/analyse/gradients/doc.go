// Package gradients tells what the backward passes of traced steps compute, by whose gradients these are: of parameters that an optimizer
// changes, of others, of an input, made anew or added to what is there.
//
// It does not judge: which of them nobody needs is for the rules.
package gradients
