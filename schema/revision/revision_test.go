package revision

import (
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dump is a Revision without positions and documents: what two equal ones have in common.
func dump(t *testing.T, r *Revision) string {
	t.Helper()
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mini is a revision that says a little of everything, with one text of its rules replaced.
func mini(t *testing.T, old, changed string) (*Revision, schema.Diagnostics) {
	t.Helper()
	files := fstest.MapFS{}
	for _, name := range []string{"core.json", RulesFile} {
		data, err := os.ReadFile("testdata/mini/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if name == RulesFile {
			if strings.Count(string(data), old) != 1 && old != "" {
				t.Fatalf("%q is not there once", old)
			}
			data = []byte(strings.Replace(string(data), old, changed, 1))
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return LoadFS(files, "mini")
}

func TestREV04EmbeddedRevisionsLoad(t *testing.T) {
	if want := []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}; !slices.Equal(Names(), want) {
		t.Errorf("embedded: %v", Names())
	}
	for _, name := range Names() {
		if r, ds := Load(name); len(ds) > 0 || r.Name != name {
			t.Errorf("%s:\n%v", name, ds)
		}
	}
}

func TestREV04UnknownRevisionNamesTheKnownOnes(t *testing.T) {
	for _, name := range []string{"2024-10-07", "../2025-11-25", "", "."} {
		r, ds := Load(name)
		if r != nil || len(ds) != 1 || ds[0].Code != "unknown-revision" || !strings.Contains(ds[0].Hint, "2025-11-25") {
			t.Errorf("%q: %v", name, ds)
		}
	}
}

func TestREV04OrderOfRulesMeansNothing(t *testing.T) {
	for _, name := range Names() {
		want, _ := Load(name)
		for seed := range uint64(20) {
			r, ds := LoadFS(shuffled(t, name, seed), name)
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			if got, want := dump(t, r), dump(t, want); got != want {
				t.Fatalf("%s, seed %d:\n%s\nnot\n%s", name, seed, got, want)
			}
		}
	}
}

func shuffled(t *testing.T, name string, seed uint64) fs.FS {
	t.Helper()
	folder, err := fs.Sub(schema.Revisions, name)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, file := range []string{"core.json", "tasks.json", RulesFile} {
		if data, err := fs.ReadFile(folder, file); err == nil {
			files[file] = &fstest.MapFile{Data: data}
		}
	}
	root, ds := schema.Parse(RulesFile, files[RulesFile].Data)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	root.Walk(func(n *schema.Node) bool {
		random.Shuffle(len(n.Members), func(i, j int) { n.Members[i], n.Members[j] = n.Members[j], n.Members[i] })
		if n != root.Get("documents") { // the first one is the core
			random.Shuffle(len(n.Items), func(i, j int) { n.Items[i], n.Items[j] = n.Items[j], n.Items[i] })
		}
		return true
	})
	files[RulesFile] = &fstest.MapFile{Data: root.JSON()}
	return files
}

func TestREV04ParamsFollowFromTheMessage(t *testing.T) {
	r, ds := mini(t, "", "")
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	for _, want := range []Method{
		{Name: "tools/call", Params: "CallParams", ParamsRequired: true, Cancellable: true},
		{Name: "tasks/cancel", Params: "CancelRequest/params"},
		{Name: "tools/changed"},
	} {
		i := slices.IndexFunc(r.Methods, func(m Method) bool { return m.Name == want.Name })
		got := r.Methods[i]
		if got.Params != want.Params || got.ParamsRequired != want.ParamsRequired || got.Cancellable != want.Cancellable {
			t.Errorf("%+v", got)
		}
		if _, ok := r.Definition(got.Params); ok != (got.Params != "") {
			t.Errorf("%s: params %q resolve: %v", got.Name, got.Params, ok)
		}
	}
}

// A path is followed through references, allOf and unions; it is required where every alternative requires it.
func TestREV04PathsLeadThroughReferencesAndUnions(t *testing.T) {
	r, _ := mini(t, "", "")
	for _, want := range []struct {
		reference string
		found     bool
		required  bool
		types     Types
	}{
		{"Task/taskId", true, true, TypeString},
		{"Task/status", true, true, TypeString},
		{"Task/ttl", true, true, TypeInteger | TypeNull},
		{"CancelResult/taskId", true, true, TypeString},
		{"Either/taskId", true, true, TypeString},
		{"Either/status", true, false, TypeString},
		{"CallRequest/params/name", true, true, TypeString},
		{"CallRequest/params/arguments", true, false, TypeObject},
		{"CancelRequest/params/taskId", true, false, TypeString}, // params may be left out
		{"CallResult/content/*", true, false, AnyType},
		{"Task/nothing", false, false, 0},
		{"Nothing", false, false, 0},
		{"Loop/anything", false, false, 0},
	} {
		place, ok := r.Definition(want.reference)
		if ok != want.found || ok && (place.Required != want.required || place.Types() != want.types) {
			t.Errorf("%s: %v, required %v, types %b", want.reference, ok, place.Required, place.Types())
		}
	}
}

func TestREV04SlotsKnowTheirPlace(t *testing.T) {
	for _, name := range Names() {
		r, _ := Load(name)
		call := r.Message("callTool")
		token := call.Slot("progressToken")
		if !slices.Equal(token.Path, []string{"_meta", "progressToken"}) || r.Place(call, token).Types() != TypeString|TypeInteger {
			t.Errorf("%s: %+v", name, token)
		}
		if (r.Task != nil) != (name >= "2025-11-25") {
			t.Errorf("%s: tasks: %v", name, r.Task)
		}
		if r.Task == nil {
			continue
		}
		created, task := r.Message("taskCreated").Slot("task"), r.Message("task")
		if flat := len(created.Path) == 0; flat != (r.Era == Stateless) {
			t.Errorf("%s: a new task is at %v", name, created.Path)
		}
		if id := task.Slot("id"); id.Always != len(id.Path) || r.Place(task, id).Types() != TypeString {
			t.Errorf("%s: %+v", name, id)
		}
	}
}

func TestREV02RevisionsDifferAsTheirRulesSay(t *testing.T) {
	old, _ := Load("2025-11-25")
	now, _ := Load("2026-07-28")
	for _, c := range []struct{ slot, old, now string }{{"ttl", "ttl", "ttlMs"}, {"pollInterval", "pollInterval", "pollIntervalMs"}} {
		a, b := old.Message("task").Slot(c.slot).Path, now.Message("task").Slot(c.slot).Path
		if a[0] != c.old || b[0] != c.now {
			t.Errorf("%s is at %v and %v", c.slot, a, b)
		}
	}
	if old.Task.IsError != IsErrorFails || now.Task.IsError != IsErrorCompletes || old.Task.Cancel != CancelForces || now.Task.Cancel != CancelAsks {
		t.Errorf("%+v\n%+v", old.Task, now.Task)
	}
	if m := old.Method("initialize", FromClient); m == nil || m.Cancellable {
		t.Errorf("CAN07: initialize can be cancelled: %+v", m)
	}
	if m := now.Method("initialize", FromClient); m != nil || now.Op("listTasks", FromClient) != nil {
		t.Errorf("removed methods are still there: %+v", m)
	}
	if old.Op("elicit", FromServer).Kind != Request || now.Op("elicit", FromServer).Kind != Input || old.Op("elicit", FromClient) != nil {
		t.Error("elicitation/create is a request of the server in one, a question in the other")
	}
	for name, code := range map[string]int{"headerMismatch": -32020, "missingCapability": -32021, "unsupportedVersion": -32022} {
		if got, ok := now.ErrorCode(name); got != code || !ok {
			t.Errorf("%s: %d", name, got)
		}
		if _, ok := old.ErrorCode(name); ok {
			t.Errorf("%s is not of %s", name, old.Name)
		}
	}
	var required []string
	for _, k := range now.Meta {
		if k.Required {
			required = append(required, k.Name)
		}
	}
	if !slices.Equal(required, []string{"clientCapabilities", "protocolVersion"}) || old.MetaKey("relatedTask") == nil {
		t.Errorf("required: %v", required)
	}
}

// Names of newer revisions are good in rules, and places that say the same refer to them.
func TestREV04NamesOfNewerRevisionsAreThoseOfTheDocument(t *testing.T) {
	r, ds := mini(t, "removed: {ping: not here}", "removed: {ping: not here}\nnames: {CancelParams: CancelRequest/params, Both: Either}\n")
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	i := slices.IndexFunc(r.Methods, func(m Method) bool { return m.Name == "tasks/cancel" })
	if r.Methods[i].Params != "CancelParams" {
		t.Errorf("params: %s", r.Methods[i].Params)
	}
	for _, reference := range []string{"CancelParams/taskId", "Both/taskId", "Task/status"} {
		if place, ok := r.Definition(reference); !ok || place.Types() != TypeString {
			t.Errorf("%s: %v", reference, ok)
		}
	}
	if _, ok := r.Definition("Either"); ok {
		t.Error("the old name is still there")
	}
	for _, m := range r.Documents[0].Definitions() {
		if m.Value.Pointer != "/$defs/"+m.Key || r.Documents[0].Lookup(m.Value.Pointer) != m.Value {
			t.Errorf("%s is at %s", m.Key, m.Value.Pointer)
		}
	}
}

func TestREV04DocumentOfAnotherRevisionIsRefused(t *testing.T) {
	other, err := fs.ReadFile(schema.Revisions, "2025-11-25/core.json")
	if err != nil {
		t.Fatal(err)
	}
	r, ds := Load("2026-07-28", WithDocument("other.json", other))
	if r != nil || !slices.ContainsFunc(ds, func(d schema.Diagnostic) bool { return d.Code == "unknown-definition" }) {
		t.Errorf("%v", ds)
	}
	r, ds = Load("2026-07-28", WithDocument("broken.json", []byte("{")))
	if r != nil || len(ds) != 1 || ds[0].Pos.File != "broken.json" {
		t.Errorf("%v", ds)
	}
}

// named reports whether the rules name a part of the document so, which is described where it stands.
func named(r *Revision, definition string) bool {
	return slices.ContainsFunc(r.aliases, func(a alias) bool { return a.name == definition })
}

// Descriptions become Go doc comments behind an identifier, so they continue a sentence and fit a line.
func TestREV04DocumentsAreCleanAndDescribed(t *testing.T) {
	for _, name := range Names() {
		r, _ := Load(name)
		for _, d := range r.Documents {
			if ds := d.Lint(); len(ds) > 0 {
				t.Error(ds)
			}
			for _, m := range d.Definitions() {
				if !m.Value.Get("description").Is(schema.String) && !named(r, m.Key) {
					t.Errorf("%s/%s: %s has no description", name, d.Name, m.Key)
				}
			}
			d.Root.Walk(func(n *schema.Node) bool {
				text := n.Get("description")
				if text.Is(schema.String) && (len(text.Text) > 110 || strings.ContainsAny(text.Text, "\n\r") ||
					!strings.HasSuffix(text.Text, ".") || text.Text[0] < 'a' || text.Text[0] > 'z') {
					t.Errorf("%s: %q", text.Pos, text.Text)
				}
				return true
			})
		}
	}
}
