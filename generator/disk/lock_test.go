package disk

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestDAY02LockKeepsOthersOut: of many at once one is inside, and the folder is left as it was.
func TestDAY02LockKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	var inside, most atomic.Int32 // the race detector does not know locks of files
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			release, err := Lock(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			most.Store(max(most.Load(), inside.Add(1)))
			runtime.Gosched()
			inside.Add(-1)
			release()
		})
	}
	wg.Wait()
	if entries, err := os.ReadDir(dir); most.Load() != 1 || err != nil || len(entries) > 0 {
		t.Errorf("%d at once; %v %v", most.Load(), entries, err)
	}
}

// TestDAY02LockGivesUp after a minute, or when its context ends.
func TestDAY02LockGivesUp(t *testing.T) {
	dir := t.TempDir()
	release, err := Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if _, err := Lock(t.Context(), dir); !errors.Is(err, errHeld) || time.Since(began) != lockTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer cancel()
		if _, err := Lock(ctx, dir); err == nil || err.Error() != "enough" {
			t.Errorf("%v, want the cause of its context", err)
		}
	})
}

func TestLockNeedsItsFolder(t *testing.T) {
	if _, err := Lock(t.Context(), t.TempDir()+"/none"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
