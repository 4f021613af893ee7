package emit

import (
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// cancelFile emits when calls end before they are done, for the tools whose manifest says so.
func cancelFile(pkg *model.Package) ([]File, error) {
	return variables(pkg, "cancel.gen.go", func(t *model.Tool) jen.Code {
		if t.Cancel == (model.CancelPolicy{}) {
			return nil
		}
		return cancelPolicy(t)
	})
}

// tasksFile emits how tools run as tasks.
func tasksFile(pkg *model.Package) ([]File, error) {
	return variables(pkg, "tasks.gen.go", func(t *model.Tool) jen.Code {
		if t.Task.Support == model.TaskForbidden {
			return nil
		}
		return taskPolicy(t)
	})
}

// variables makes a file of one variable a tool, or none if no tool has one.
func variables(pkg *model.Package, name string, make func(*model.Tool) jen.Code) ([]File, error) {
	f := newFile(pkg)
	empty := true
	for _, t := range pkg.Tools {
		if code := make(t); code != nil {
			f.Add(code)
			f.Line()
			empty = false
		}
	}
	if empty {
		return nil, nil
	}
	content, err := format(f)
	return one(name, content, err)
}

// var getQuoteCancel = server.CancelPolicy{Timeout: 5 * time.Second}
func cancelPolicy(t *model.Tool) jen.Code {
	fields := durations(duration{"Timeout", t.Cancel.Timeout})
	if t.Cancel.Uncancellable {
		fields = append(fields, field("Uncancellable", jen.True()))
	}
	if t.Cancel.Because != "" {
		fields = append(fields, field("Because", jen.Lit(t.Cancel.Because)))
	}
	return jen.Var().Id(t.Ident+"Cancel").Op("=").Qual(serverPath, "CancelPolicy").Values(fields...)
}

// var buildReportTask = server.TaskPolicy{Support: server.TaskRequired, TTL: 2 * time.Hour, MaxTTL: 24 * time.Hour}
func taskPolicy(t *model.Tool) jen.Code {
	support := "TaskOptional"
	if t.Task.Support == model.TaskRequired {
		support = "TaskRequired"
	}
	fields := append([]jen.Code{field("Support", jen.Qual(serverPath, support))}, durations(
		duration{"TTL", t.Task.TTL}, duration{"MaxTTL", t.Task.MaxTTL},
		duration{"PollInterval", t.Task.PollInterval}, duration{"Timeout", t.Task.Timeout})...)
	return jen.Var().Id(t.Ident+"Task").Op("=").Qual(serverPath, "TaskPolicy").Values(fields...)
}

type duration struct {
	field string
	value time.Duration
}

func durations(all ...duration) []jen.Code {
	var fields []jen.Code
	for _, d := range all {
		if d.value != 0 {
			fields = append(fields, field(d.field, durationCode(d.value)))
		}
	}
	return fields
}

// durationCode writes d in the largest unit that divides it: 90 * time.Second.
func durationCode(d time.Duration) *jen.Statement {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{
		{"Hour", time.Hour}, {"Minute", time.Minute}, {"Second", time.Second}, {"Millisecond", time.Millisecond}, {"Microsecond", time.Microsecond},
	} {
		if d%unit.size == 0 {
			if d == unit.size {
				return jen.Qual("time", unit.name)
			}
			return jen.Lit(int(d/unit.size)).Op("*").Qual("time", unit.name)
		}
	}
	return jen.Lit(int(d)).Op("*").Qual("time", "Nanosecond")
}
