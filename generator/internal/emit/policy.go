package emit

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// cancelFile emits when calls end before they are done, for the tools whose manifest says so.
func cancelFile(pkg *model.Package) ([]File, error) {
	return variables(pkg, "cancel.gen.go", func(s *source, t *model.Tool) string {
		if t.Cancel == (model.CancelPolicy{}) {
			return ""
		}
		return s.cancelPolicy(t)
	})
}

// tasksFile emits how tools run as tasks.
func tasksFile(pkg *model.Package) ([]File, error) {
	return variables(pkg, "tasks.gen.go", func(s *source, t *model.Tool) string {
		if t.Task.Support == model.TaskForbidden {
			return ""
		}
		return s.taskPolicy(t)
	})
}

// variables makes a file of one variable a tool, or none if no tool has one.
func variables(pkg *model.Package, name string, make func(*source, *model.Tool) string) ([]File, error) {
	s := &source{}
	for _, t := range pkg.Tools {
		if code := make(s, t); code != "" {
			s.line()
			s.line(code)
		}
	}
	if len(s.b) == 0 {
		return nil, nil
	}
	return one(name, s.file(header(pkg), pkg.Name), nil)
}

// var getQuoteCancel = server.CancelPolicy{Timeout: 5 * time.Second}
func (s *source) cancelPolicy(t *model.Tool) string {
	fields := s.durations(duration{"Timeout", t.Cancel.Timeout})
	if t.Cancel.Uncancellable {
		fields = append(fields, "Uncancellable: true")
	}
	if t.Cancel.Because != "" {
		fields = append(fields, "Because: "+strconv.Quote(t.Cancel.Because))
	}
	return "var " + t.Ident + "Cancel = " + s.use(serverPath, "CancelPolicy") + "{" + strings.Join(fields, ", ") + "}"
}

// var buildReportTask = server.TaskPolicy{Support: server.TaskRequired, TTL: 2 * time.Hour, MaxTTL: 24 * time.Hour}
func (s *source) taskPolicy(t *model.Tool) string {
	support := "Support: server.TaskOptional"
	if t.Task.Support == model.TaskRequired {
		support = "Support: server.TaskRequired"
	}
	fields := append([]string{support}, s.durations(
		duration{"TTL", t.Task.TTL}, duration{"MaxTTL", t.Task.MaxTTL},
		duration{"PollInterval", t.Task.PollInterval}, duration{"Timeout", t.Task.Timeout})...)
	return "var " + t.Ident + "Task = " + s.use(serverPath, "TaskPolicy") + "{" + strings.Join(fields, ", ") + "}"
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
