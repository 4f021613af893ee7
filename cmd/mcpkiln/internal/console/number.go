package console

import (
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// numbers returns the value of progress, the total if it is known, and the rate per second if it can be computed.
func numbers(first, last client.Progress, passed time.Duration) string {
	text := number(last.Progress)
	if last.Total > 0 {
		text += "/" + number(last.Total)
	}
	if grown := last.Progress - first.Progress; grown > 0 && passed > 0 {
		text += "  " + strconv.FormatFloat(grown/passed.Seconds(), 'g', 3, 64) + "/s"
	}
	return text
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
