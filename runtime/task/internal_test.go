package task

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestEventsDropWhatIsOlder(t *testing.T) {
	var ev events
	var got []uint64
	tell := func(t Task) { got = append(got, t.Version) }
	for _, version := range []uint64{2, 1, 2, 3} {
		ev.publish(&Task{Version: version}, tell)
	}
	if fmt.Sprint(got) != "[2 3]" {
		t.Errorf("told %v", got)
	}
}

func TestMemoryForgetsOwnersWithoutTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		for n := range 1000 {
			task := Task{ID: fmt.Sprint(n), Owner: fmt.Sprint("owner ", n/2), TTL: time.Minute}
			if _, err := m.Create(t.Context(), task, Quota{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if x, err := m.Expire(t.Context(), 1000); err != nil || len(x.Removed) != 1000 {
			t.Fatalf("%d removed, %v", len(x.Removed), err)
		}
		for i := range m.owners {
			if n := len(m.owners[i].owners) + len(m.ids[i].records) + len(m.ids[i].expiry); n > 0 {
				t.Errorf("%d things are left in shard %d", n, i)
			}
		}
	})
}
