package disk

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Waiting for another run: how long before the first retry, at most between two, and in all.
const (
	firstWait   = time.Millisecond
	longestWait = 50 * time.Millisecond
	lockTimeout = time.Minute
)

// Lock waits until no other process has the lock of dir, and holds it until release is called. It leaves nothing on disk, and the
// system releases it when the process is killed. After a minute it gives up, with an error that says so. Where a file system has no
// locks, it does nothing.
func Lock(ctx context.Context, dir string) (release func(), err error) {
	giveUp := time.NewTimer(lockTimeout)
	defer giveUp.Stop()
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		release, err = tryLock(dir)
		if !errors.Is(err, errHeld) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-giveUp.C:
			return nil, fmt.Errorf("%s: %w for a minute: end it, or wait for it", dir, errHeld)
		case <-time.After(wait):
		}
	}
}
