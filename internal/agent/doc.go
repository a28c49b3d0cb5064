// Package agent holds the Python agent that rides in the measured program, and the Go side of its protocol: the files to
// put in a session directory, the configuration, and the environment that makes every Python child load them.
//
// Data passes one way: Extract writes the embedded files, Environ points a command's environment at them, the agent
// writes process.json, events.jsonl.gz and trace-<n>.json into folders of the session directory (docs/session.md).
// Package ingest reads those.
//
// It does not start programs, read what the agent wrote, or know about PyTorch beyond the names in Config.
package agent
