package generator

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the outputs of the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
