package emit

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// server.CancelPolicy{Timeout: 5 * time.Second}
func (s *source) cancelPolicy(c *model.CancelPolicy) string {
	fields := s.durations(duration{"Timeout", c.Timeout})
	if c.Uncancellable {
		fields = append(fields, "Uncancellable: true")
	}
	if c.Because != "" {
		fields = append(fields, "Because: "+strconv.Quote(c.Because))
	}
	return s.use(serverPath, "CancelPolicy") + "{" + strings.Join(fields, ", ") + "}"
}

// server.TaskPolicy{Support: server.TaskRequired, TTL: 2 * time.Hour, MaxTTL: 24 * time.Hour}
func (s *source) taskPolicy(t *model.TaskPolicy) string {
	var fields []string
	if t.Support != model.TaskForbidden {
		fields = append(fields, "Support: "+s.use(serverPath, ifElse(t.Support == model.TaskRequired, "TaskRequired", "TaskOptional")))
	}
	fields = append(fields, s.durations(
		duration{"TTL", t.TTL}, duration{"MaxTTL", t.MaxTTL}, duration{"PollInterval", t.PollInterval}, duration{"Timeout", t.Timeout})...)
	if t.FailOnCrash {
		fields = append(fields, "OnCrash: "+s.use(serverPath, "FailOnCrash"))
	}
	if t.MaxReruns > 0 {
		fields = append(fields, "MaxReruns: "+strconv.Itoa(t.MaxReruns))
	}
	return s.use(serverPath, "TaskPolicy") + "{" + strings.Join(fields, ", ") + "}"
}

type duration struct {
	field string
	value time.Duration
}

func (s *source) durations(all ...duration) []string {
	var fields []string
	for _, d := range all {
		if d.value != 0 {
			fields = append(fields, d.field+": "+s.durationCode(d.value))
		}
	}
	return fields
}

// durationCode writes d in the largest unit that divides it: 90 * time.Second.
func (s *source) durationCode(d time.Duration) string {
	unit, name := time.Nanosecond, "Nanosecond"
	for _, u := range []struct {
		name string
		size time.Duration
	}{
		{"Hour", time.Hour}, {"Minute", time.Minute}, {"Second", time.Second}, {"Millisecond", time.Millisecond}, {"Microsecond", time.Microsecond},
	} {
		if d%u.size == 0 {
			unit, name = u.size, u.name
			break
		}
	}
	if d == unit {
		return s.use("time", name)
	}
	return strconv.FormatInt(int64(d/unit), 10) + " * " + s.use("time", name)
}
