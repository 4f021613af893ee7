package target_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

const entries = `{"mcpServers":{
  "local": {"command":"${BIN}/server","args":["--dir","${env:DIR}","${MODE:-fast}"],"env":{"KEY":"${SECRET}"},"cwd":"/srv"},
  "remote": {"type":"http","url":"https://example.com/mcp","headers":{"X-Key":"${SECRET}"}},
  "asks": {"command":"x","args":["${input:token}"]},
  "lacks": {"command":"x","args":["${NOWHERE}"]},
  "both": {"command":"x","url":"https://example.com"},
  "old": {"type":"sse","url":"https://example.com/sse"},
  "odd": {"command":["x"]}
}}`

func spec(t *testing.T, name string) *target.Spec {
	env := map[string]string{"BIN": "/bin", "DIR": "/d", "SECRET": "s3cret"}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(entries), 0o600); err != nil {
		t.Fatal(err)
	}
	return &target.Spec{Name: name, Dir: dir, Env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }}
}

func TestAnEntryIsACommand(t *testing.T) {
	tr, err := spec(t, "local").Transport()
	p, ok := tr.(*client.Process)
	if err != nil || !ok {
		t.Fatal(tr, err)
	}
	if p.Path != "/bin/server" || strings.Join(p.Args, " ") != "--dir /d fast" || p.Dir != "/srv" || !slices.Contains(p.Env, "KEY=s3cret") || len(p.Env) < 2 {
		t.Errorf("%+v", p)
	}
}

func TestAnEntryIsAnAddress(t *testing.T) {
	s := spec(t, "remote")
	s.Headers = []string{"Authorization: Bearer mine", "X-Many: 1", "x-many:2"}
	tr, err := s.Transport()
	e, ok := tr.(*client.Endpoint)
	if err != nil || !ok {
		t.Fatal(tr, err)
	}
	if e.URL != "https://example.com/mcp" || e.Header.Get("X-Key") != "s3cret" || e.Header.Get("Authorization") != "Bearer mine" || len(e.Header["X-Many"]) != 2 {
		t.Errorf("%+v", e)
	}
}

// TestAServerIsCalledWhatTheUserCallsIt, and no secret of its address or command is shown.
func TestAServerIsCalledWhatTheUserCallsIt(t *testing.T) {
	for want, s := range map[string]*target.Spec{
		"local": spec(t, "local"), "remote": spec(t, "remote"), "shop.example:8080": {Name: "https://shop.example:8080/mcp?key=secret"}, "reports": {Command: []string{"/opt/reports", "--token=secret"}},
	} {
		if got := s.ServerName(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestATokenComesFromTheEnvironment(t *testing.T) {
	s := &target.Spec{Name: "https://example.com/mcp"}
	for token, header := range map[string][]string{"tok": nil, "bearer tok": nil, "other": {"authorization: Basic eA=="}} {
		s.Env = func(k string) (string, bool) { return token, k == target.TokenVariable }
		s.Headers = header
		tr, err := s.Transport()
		if err != nil {
			t.Fatal(err)
		}
		want := "Bearer tok"
		if header != nil {
			want = "Basic eA=="
		}
		if got := tr.(*client.Endpoint).Header.Values("Authorization"); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTargetsThatCanNotBe(t *testing.T) {
	for name, want := range map[string]string{
		"":                     "no server is named",
		"ftp://example.com":    "begins with https:// or http://",
		"http://":              "begins with https:// or http://",
		"https://u:p@host/mcp": "user and a password",
		"http://[::1":          "is no address",
		"remot":                `did you mean "remote"?`,
		"elsewhere":            "it has asks, both, lacks, local, odd, old, remote",
		"asks":                 "asked for by an editor",
		"lacks":                "NOWHERE is not in the environment",
		"old":                  ".mcp.json: old: HTTP+SSE, the transport of 2024-11-05 with two endpoints, is not spoken",
		"odd":                  ".mcp.json:8: odd: the entry can not be read: command: write a text in quotes, not this (array)",
		"both":                 "either a command or a url",
	} {
		if _, err := spec(t, name).Transport(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	s := spec(t, "")
	s.Command, s.Headers = []string{"x"}, []string{"A: b"}
	if _, err := s.Transport(); err == nil || !strings.Contains(err.Error(), "--header is for servers on HTTP") {
		t.Error(err)
	}
	s = spec(t, "https://example.com")
	s.Headers = []string{"nothing"}
	if _, err := s.Transport(); err == nil || !strings.Contains(err.Error(), "write 'Name: value'") {
		t.Error(err)
	}
	for header, want := range map[string]string{"A(b: c": `"A(b" is no name of a header`, "A: secret\nB: c": "the header A has a line break"} {
		s.Headers = []string{header}
		if _, err := s.Transport(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", header, err, want)
		}
	}
	s.Headers = nil
	s.Dir, s.Name = t.TempDir(), "local"
	if _, err := s.Transport(); err == nil || !strings.Contains(err.Error(), "there is no mcp.json, no .mcp.json") {
		t.Error(err)
	}
	s.Config = "none.json"
	if _, err := s.Transport(); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Error(err)
	}
}

// TestAnEntryThatIsSwitchedOffIsNotUsed: the error names its file and the member. Any other member that only hosts know is ignored.
func TestAnEntryThatIsSwitchedOffIsNotUsed(t *testing.T) {
	for member, want := range map[string]string{
		`"disabled":true`:  `mcp.json: a: the entry has "disabled": true: remove that`,
		`"enabled":false`:  `mcp.json: a: the entry has "enabled": false: remove that`,
		`"disabled":"yes"`: "disabled: write true or false, not this (string)",
		`"disabled":false`: "",
		`"disabled":null`:  "",
		`"enabled":true`:   "",
		`"autoApprove":[]`: "",
	} {
		for _, server := range []string{`"command":"x"`, `"url":"https://example.com/mcp"`} {
			_, err := transport(t, "a", `{"mcpServers":{"a":{`+server+`,`+member+`}}}`)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", member, err, want)
			}
		}
	}
}

// TestAnAddressThatCanNotBeIsShownWithoutItsSecrets: its query and its user come from the environment.
func TestAnAddressThatCanNotBeIsShownWithoutItsSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:1x/mcp?key=${SECRET}": `"http://127.0.0.1:1x/mcp" is no address: invalid port ":1x" after host`,
		"http://127.0.0.1:1x/mcp#${SECRET}":     `"http://127.0.0.1:1x/mcp" is no address: invalid port ":1x" after host`,
		"http://ann:${SECRET}@127.0.0.1:1x/mcp": "a user and a password is not taken",
		"http://ann:${SECRET}/@127.0.0.1/mcp":   "a user and a password is not taken",
		"ftp://ann:${SECRET}@127.0.0.1/mcp":     "a user and a password is not taken",
		"http://ann:${SECRET}?x@127.0.0.1/mcp":  "a user and a password is not taken",
		"http://ann:${SECRET}#x@127.0.0.1/mcp":  "a user and a password is not taken",
		"ftp://127.0.0.1/mcp?key=${SECRET}":     `"ftp://127.0.0.1/mcp" is no address of a server`,
	} {
		s := spec(t, "bad")
		s.Config = filepath.Join(t.TempDir(), "mcp.json")
		if err := os.WriteFile(s.Config, []byte(`{"servers":{"bad":{"url":"`+address+`"}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Transport(); err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestAFileThatIsNotJSON: the error has the line.
func TestAFileThatIsNotJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{\"servers\": {":                "mcp.json:1: ",
		"":                               "mcp.json:1: ",
		"{\n  // mine\n  \"servers\": }": "mcp.json:3: ",
		"{\n/* a\nb */ \"servers\": {\n\"a\": {},,}}": "mcp.json:4: ",
		"{\n/* mine \"servers\": {}}":                 "mcp.json:2: ",
		"{\n\"servers\": / {}}":                       "mcp.json:2: ",
		"{\n, }":                                      "mcp.json:2: ",
		"{\"servers\": {}, \"x\": \"//":               "mcp.json:1: ",
		"{\"servers\": {}, \"x\": \"\\":               "mcp.json:1: ",
	} {
		_, err := transport(t, "a", text)
		if err == nil || !strings.Contains(err.Error(), want) || want != "" && !strings.Contains(err.Error(), "JSON with comments: mend it") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestAFileMayBeAsEditorsReadIt: with comments, a comma before a closing bracket, and a byte order mark.
func TestAFileMayBeAsEditorsReadIt(t *testing.T) {
	const url = `http://a/*b*/c//d,]?x=\"//,}`
	for _, text := range []string{
		`{"servers":{"a":{"url":URL}}}`,
		"\ufeff{\"servers\":{\"a\":{\"url\":URL}}}",
		"// mine\n{ // all, of them\n\"servers\": {\r\n/* the \"first */ \"a\": {/**/\"url\": URL, // this\r\n}, /* , */ },\n\"inputs\": [1, /*2,*/ ], } // end",
	} {
		made, err := transport(t, "a", strings.ReplaceAll(text, "URL", `"`+url+`"`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if http := made.(*client.Endpoint); http.URL != strings.ReplaceAll(url, `\"`, `"`) {
			t.Errorf("%s: %s", text, http.URL)
		}
	}
}

// transport reads an entry of a file.
func transport(t *testing.T, name, file string) (client.Transport, error) {
	t.Helper()
	s := spec(t, name)
	s.Config = filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(s.Config, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return s.Transport()
}

// TestAnEntryThatOccursTwiceIsRefused: hosts take one or the other.
func TestAnEntryThatOccursTwiceIsRefused(t *testing.T) {
	_, err := transport(t, "a", "{\"servers\": {\n\"a\": {\"command\": \"x\"}, // the old one\n\"a\": {\"command\": \"y\"}}}")
	if err == nil || !strings.HasSuffix(err.Error(), `mcp.json:3: key "a" occurs twice; the first is at line 2: remove one of them`) {
		t.Error(err)
	}
}

// TestTheHeadersOfTheProtocolAreNotGiven on the command line, where they would be lost without a word. Entries have them for hosts.
func TestTheHeadersOfTheProtocolAreNotGiven(t *testing.T) {
	for _, name := range []string{"Mcp-Method", "mcp-name", "Mcp-Param-Region", "MCP-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID", "Content-Type", "Accept", "Host"} {
		s := spec(t, "https://example.com")
		s.Headers = []string{name + ": x"}
		if _, err := s.Transport(); err == nil || !strings.HasPrefix(err.Error(), "--header "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := transport(t, "a", `{"servers":{"a":{"url":"https://example.com","headers":{"`+name+`":"x"}}}}`); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnEntryIsLookedForInAllFiles: the first file that has it wins, and the error for a name that none has names those that were read.
func TestAnEntryIsLookedForInAllFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mcp.json", `{"mcpServers":{"a":{"url":"http://first.example/"}}}`)
	write(".vscode/mcp.json", `{"servers":{"a":{"url":"http://second.example/"},"b":{"url":"http://b.example/"}}}`)
	for name, want := range map[string]string{"a": "http://first.example/", "b": "http://b.example/"} {
		s := &target.Spec{Name: name, Dir: dir, Env: func(string) (string, bool) { return "", false }}
		got, err := s.Transport()
		if e, ok := got.(*client.Endpoint); !ok || e.URL != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	s := &target.Spec{Name: "nobody", Dir: dir}
	want := filepath.Join(dir, "mcp.json") + " and " + filepath.Join(dir, ".vscode/mcp.json") + ` have no entry "nobody": they have a, b`
	if _, err := s.Transport(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if names, err := s.Names(); err != nil || strings.Join(names, " ") != "a b" {
		t.Errorf("%q, %v", names, err)
	}
	write(".cursor/mcp.json", `{`)
	s.Name = "b" // an entry that is found needs no later file
	s.Env = func(string) (string, bool) { return "", false }
	if _, err := s.Transport(); err != nil {
		t.Error(err)
	}
}
