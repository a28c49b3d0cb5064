// Package launch has the rules on programs that call one small operator after another.
//
// It does not look at devices: what their launches cost in traces from elsewhere is package traced's.
package launch
