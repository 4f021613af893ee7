package wire

import (
	"io/fs"
	"reflect"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// structs are the runtime's messages by the names that the tables use.
func structs() map[string]reflect.Type {
	return map[string]reflect.Type{
		"Params": reflect.TypeFor[wire.Params](), "InitializeResult": reflect.TypeFor[wire.InitializeResult](),
		"ToolList": reflect.TypeFor[wire.ToolList](), "CallResult": reflect.TypeFor[wire.CallResult](),
		"Annotations": reflect.TypeFor[wire.Annotations](), "Block": reflect.TypeFor[wire.Block](),
		"TaskView": reflect.TypeFor[wire.TaskView](), "TaskList": reflect.TypeFor[wire.TaskList](),
		"Progress": reflect.TypeFor[wire.Progress](), "Cancelled": reflect.TypeFor[wire.Cancelled](),
		"Elicit": reflect.TypeFor[wire.Elicit](), "ElicitResult": reflect.TypeFor[wire.ElicitResult](),
		"DiscoverResult": reflect.TypeFor[wire.DiscoverResult](), "InputRequired": reflect.TypeFor[wire.InputRequired](),
		"ListenResult": reflect.TypeFor[wire.ListenResult](), "Acknowledged": reflect.TypeFor[wire.Acknowledged](),
		"Changed": reflect.TypeFor[wire.Changed](), "ResourceUpdated": reflect.TypeFor[wire.ResourceUpdated](),
		"LogMessage": reflect.TypeFor[wire.LogMessage](), "ElicitationComplete": reflect.TypeFor[wire.ElicitationComplete](), "MissingCapability": reflect.TypeFor[wire.MissingCapability](),
		"ItemList": reflect.TypeFor[wire.ItemList](), "PromptResult": reflect.TypeFor[wire.PromptResult](), "PromptMessage": reflect.TypeFor[wire.PromptMessage](),
		"ListedResource": reflect.TypeFor[wire.ListedResource](), "ResourceResult": reflect.TypeFor[wire.ResourceResult](), "Completion": reflect.TypeFor[wire.Completion](),
		"UnsupportedVersion": reflect.TypeFor[wire.UnsupportedVersion](),
	}
}

func slotTypes() map[model.SlotKind]reflect.Type {
	return map[model.SlotKind]reflect.Type{
		model.StringSlot: reflect.TypeFor[string](), model.IntSlot: reflect.TypeFor[int64](), model.FloatSlot: reflect.TypeFor[float64](),
		model.BoolSlot: reflect.TypeFor[bool](), model.RawSlot: reflect.TypeFor[[]byte](),
		model.StringsSlot: reflect.TypeFor[[]string](),
		model.IDSlot:      reflect.TypeFor[rpc.ID](), model.MillisSlot: reflect.TypeFor[wire.Millis](), model.TimeSlot: reflect.TypeFor[wire.Time](),
	}
}

// TestREV04TablesMatchTheRuntime holds the generator's tables against the structs that generated code fills.
func TestREV04TablesMatchTheRuntime(t *testing.T) {
	revision := reflect.TypeFor[wire.Revision]()
	for _, m := range append(wireMessages(), wireMessage{structName: "Params", slots: paramSlots()}) {
		if _, ok := revision.FieldByName(m.field); !ok && m.field != "" {
			t.Errorf("wire.Revision has no %s", m.field)
		}
		of, ok := structs()[m.structName]
		if !ok {
			t.Errorf("there is no wire.%s", m.structName)
			continue
		}
		for name, slot := range m.slots {
			f, ok := of.FieldByName(slot.Field)
			if !ok || f.Type != slotTypes()[slot.Kind] {
				t.Errorf("%s: wire.%s.%s is %v, want %v", name, m.structName, slot.Field, f.Type, slotTypes()[slot.Kind])
			}
		}
	}
	for _, c := range append(capabilityFields(), extensionFields()...) {
		if _, ok := reflect.TypeFor[wire.Capabilities]().FieldByName(c.field); !ok {
			t.Errorf("wire.Capabilities has no %s", c.field)
		}
	}
	for field := range reflect.TypeFor[wire.Revision]().Fields() {
		if field.Name == "CheckCallResult" || field.Name == "AppendOutput" {
			continue // Sent and Viewers make them
		}
		if field.Type.Kind() == reflect.Func && !slices.ContainsFunc(wireMessages(), func(m wireMessage) bool { return m.field == field.Name }) {
			t.Errorf("nothing fills wire.Revision.%s", field.Name)
		}
	}
}

// TestREV04StatusesAreTheEngines: every status of the engine has its Go name here, and no other.
func TestREV04StatusesAreTheEngines(t *testing.T) {
	if got, want := len(statusNames()), len(task.Statuses()); got != want {
		t.Errorf("%d statuses, the engine has %d", got, want)
	}
	for _, s := range task.Statuses() {
		if statusNames()[string(s)] == "" {
			t.Errorf("status %s has no Go name", s)
		}
	}
}

// TestREV04WireIsDataOnly lowers a revision whose names are all different from any real one: what comes out has the
// names of the rules, so the generator has none of its own.
func TestREV04WireIsDataOnly(t *testing.T) {
	folder, err := fs.Sub(schema.Revisions, "2025-11-25")
	if err != nil {
		t.Fatal(err)
	}
	rev, ds := revision.LoadFS(folder, "2025-11-25") // one of its own, which may be changed
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for i := range rev.Methods {
		rev.Methods[i].Name = "renamed/" + rev.Methods[i].Name
	}
	for i := range rev.Messages {
		for j := range rev.Messages[i].Slots {
			path := slices.Clone(rev.Messages[i].Slots[j].Path)
			for k := range path {
				path[k] = "renamed " + path[k]
			}
			rev.Messages[i].Slots[j].Path = path
		}
	}
	w, ds := Lower(rev, &model.Package{Needs: model.Needs{Tasks: true, Questions: true}}, &Shared{Union: revision.Embedded()})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, m := range w.Methods {
		if m.Name[:8] != "renamed/" {
			t.Errorf("method %s is not from the rules", m.Name)
		}
	}
	for _, f := range w.Functions {
		f.Root.Walk(func(o *model.WireObject) {
			for _, m := range o.Members {
				if m.Literal == "" && o.Splice == "" && m.Name != metaMember && m.Name[:8] != "renamed " {
					t.Errorf("%s: member %s is not from the rules", f.Func, m.Name)
				}
			}
		})
	}
}

// TestTSK01NothingOfTasksWithoutTasks: a package none of whose tools runs as a task has no method, rule or function of tasks.
func TestTSK01NothingOfTasksWithoutTasks(t *testing.T) {
	rev, ds := revision.Load("2025-11-25")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w, _ := Lower(rev, &model.Package{}, &Shared{Union: revision.Embedded()})
	if w.Task != nil {
		t.Error("task rules")
	}
	for _, m := range w.Methods {
		if m.Task || slices.Contains([]string{"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"}, m.Name) {
			t.Errorf("method %+v", m)
		}
	}
	for _, c := range w.Capabilities {
		if !slices.Contains([]string{"Tools", "ToolsChanged", "RootsChanged"}, c.Field) {
			t.Errorf("capability %+v", c)
		}
	}
	for _, m := range w.Messages {
		if slices.Contains([]string{"TaskView", "TaskList", "Elicit", "ElicitResult", "Cancelled"}, m.Struct) {
			t.Errorf("message %s", m.Func)
		}
	}
}

// TestEXT20CacheableMethods: the results of these say how long they may be kept, and no others.
func TestEXT20CacheableMethods(t *testing.T) {
	for name, want := range map[string][]string{
		"2025-11-25": nil,
		"2026-07-28": {"prompts/list", "resources/list", "resources/read", "resources/templates/list", "server/discover", "tools/list"},
	} {
		rev, ds := revision.Load(name)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		pkg := &model.Package{Needs: model.Needs{Tools: true}}
		for _, m := range rev.Methods {
			pkg.Methods = append(pkg.Methods, &model.MethodHandler{Name: m.Name})
		}
		w, _ := Lower(rev, pkg, &Shared{Union: revision.Embedded()})
		var got []string
		for _, m := range w.Methods {
			if m.Cacheable {
				got = append(got, m.Name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestREV04OneFunctionPerContent: messages of the same content have one function, within a revision and across revisions.
func TestREV04OneFunctionPerContent(t *testing.T) {
	pkg := &model.Package{Needs: model.Needs{Tools: true, Tasks: true, Questions: true, Results: true}}
	shared := Shared{Union: revision.Embedded()}
	read := map[string]string{}  // methods and fields of the older revision by their function
	declared := map[string]int{} // functions by how often they are declared
	for _, name := range []string{"2026-07-28", "2025-11-25"} {
		rev, ds := revision.Load(name)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		w, _ := Lower(rev, pkg, &shared)
		for _, f := range w.Functions {
			declared[f.Func]++
		}
		for _, m := range w.Methods {
			if m.Read != nil {
				read[m.Name] = m.Read.Func
			}
		}
		for _, m := range w.Messages {
			read[m.Field] = m.Func
		}
	}
	for _, same := range [][2]string{{"tasks/get", "tasks/cancel"}, {"tasks/get", "tasks/result"}, {"tasks/list", "tools/list"}} {
		if read[same[0]] == "" || read[same[0]] != read[same[1]] {
			t.Errorf("%s is read by %s, %s by %s", same[0], read[same[0]], same[1], read[same[1]])
		}
	}
	if got := read["ReadElicitResult"]; got != "readElicitResult20260728" {
		t.Errorf("the older revision reads answers with %s", got)
	}
	for name, times := range declared {
		if times > 1 {
			t.Errorf("%s is declared %d times", name, times)
		}
	}
	for user, name := range read {
		if declared[name] == 0 {
			t.Errorf("%s uses %s, which is not declared", user, name)
		}
	}
}
