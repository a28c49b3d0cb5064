//go:build !linux

package main

import (
	"errors"
	"os/exec"
	"time"
)

var errOnlyLinux = errors.New("the parts tail and cycles need Linux")

// player cannot be had here.
type player struct {
	cmd   *exec.Cmd
	marks string
}

func startPlayer([]string, string) (*player, error)      { return nil, errOnlyLinux }
func (p *player) await(func() bool, time.Duration) error { return errOnlyLinux }
func (p *player) pause() error                           { return errOnlyLinux }
func (p *player) resume() error                          { return errOnlyLinux }
func (p *player) kill()                                  {}
func (p *player) used() (time.Duration, int64)           { return 0, 0 }
func (p *player) words() string                          { return "" }
func (p *player) steps() int64                           { return 0 }
func (p *player) between(int64, int64) []int64           { return nil }
func (p *player) tree() []int                            { return nil }
func monotonic() int64                                   { return 0 }
func residentMemory(int) (int64, error)                  { return 0, errOnlyLinux }
