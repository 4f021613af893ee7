package wire

import (
	"testing"
	"time"
)

// TestTimeIsWrittenWithMilliseconds compares with the layout that says so, also for years that have more or less than four digits.
func TestTimeIsWrittenWithMilliseconds(t *testing.T) {
	zone := time.FixedZone("", -5400)
	for _, at := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(1_700_000_000, 999_999_999).In(zone), time.Unix(1_700_000_000, 1_000_000), time.Unix(-1, 12_345_678),
		time.Date(12345, 1, 2, 3, 4, 5, 60_000_000, time.UTC), time.Date(-7, 1, 2, 3, 4, 5, 700_000_000, zone),
	} {
		want := at.UTC().Format(`"2006-01-02T15:04:05.000Z07:00"`)
		if got := string(Time(at).AppendJSON(nil)); got != want {
			t.Errorf("%v is written as %s, not %s", at, got, want)
		}
	}
}
