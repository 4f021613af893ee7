package chaos

import (
	"flag"
	"time"
)

// figures is set by `make chaos`. Other runs share their machine, so their times prove nothing.
var figures = flag.Bool("figures", false, "fail where something takes longer than it may")

// Figure logs how long something took; with -figures the test fails if that is too long.
func Figure(t TB, what string, took, most time.Duration) {
	t.Helper()
	t.Logf("%s: %v (at most %v)", what, took, most)
	if *figures && took > most {
		t.Errorf("%s took %v, which is longer than %v", what, took, most)
	}
}
