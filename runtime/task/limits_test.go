package task

import "testing"

// What all tasks keep is bounded so that it fits beside the other budgets of a server in a container of 2 GiB.
func TestTSK28TasksTakeTheirPartOfAServer(t *testing.T) {
	if l := (Limits{}).withDefaults(); l.AllBytes > 256<<20 || l.Bytes > l.AllBytes/2 {
		t.Errorf("one owner has %d bytes, all have %d", l.Bytes, l.AllBytes)
	}
}
