// Package traced has the rules on what devices did: of traces from elsewhere, and where a run of ours waits for its own device.
//
// It does not have an unprofiled step to compare with: savings are of the traced time.
package traced
