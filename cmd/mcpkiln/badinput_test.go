package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// runs is one run of the command: its exit status, and what it printed.
func runs(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command("mcpkiln", args...)
	cmd.Dir = t.TempDir()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	var exit *exec.ExitError
	if e := cmd.Run(); e != nil && !errors.As(e, &exit) {
		t.Fatal(e)
	}
	return cmd.ProcessState.ExitCode(), out.String(), err.String()
}

// bad is a server that answers every request so.
func bad(t *testing.T, status int, header, kind, body string) string {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

// strange is a server of all revisions with one tool, whose calls are answered as a test wants: a result, or an error if it begins with !.
func strange(t *testing.T, definition, answer string) string {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		result := map[string]string{
			"initialize":      `{"protocolVersion":"` + m.Params.ProtocolVersion + `","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`,
			"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`,
			"tools/list":      `{"resultType":"complete","tools":[` + definition + `],"ttlMs":0,"cacheScope":"private"}`,
			"tools/call":      answer,
		}[m.Method]
		if failed, ok := strings.CutPrefix(result, "!"); ok {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, failed)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

const (
	plainTool = `{"name":"t","inputSchema":{"type":"object"}}`
	typedTool = `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`
)

// TestBadInputReadsWell: whatever a server does, the command says what is wrong, with the exit status that belongs to it, and does nothing
// that the server says.
func TestBadInputReadsWell(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for name, c := range map[string]struct {
		target []string
		status int
		says   []string
	}{
		"it does not start":          {[]string{"--", "/nowhere/server"}, exitNetwork, []string{"the server does not start", "no such file"}},
		"it is not there":            {[]string{"--", "no-such-server"}, exitNetwork, []string{"the server does not start: no-such-server: executable file not found"}},
		"it is no program":           {[]string{"--", "/etc/passwd"}, exitNetwork, []string{"the server does not start: /etc/passwd: permission denied\n"}},
		"it says nothing":            {[]string{"--", "true"}, exitNetwork, []string{"exit status 0", "is that a server?"}},
		"it ends within a line":      {[]string{"--", "sh", "-c", `read line; printf '{"jsonrpc":"2.0","id":1,"result":{'; exit 7`}, exitNetwork, []string{"mcpkiln: the server has ended: exit status 7; its last message was broken off after 34 bytes\n"}},
		"it echoes":                  {[]string{"--", "cat"}, exitProtocol, []string{"it sends back what it is sent"}},
		"a flag behind --":           {[]string{"--", "sh", "-c", "exit 1", "--timeout=5s"}, exitNetwork, []string{"exit status 1", "--timeout=5s stands behind --"}},
		"nothing but flags":          {[]string{"--", "--help"}, exitRefused, []string{"what follows -- is the command of a server"}},
		"it does not begin":          {[]string{"--revision=2025-11-25", bad(t, 200, "", "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no database"}}`)}, exitProtocol, []string{"the server refuses to begin: no database (code -32603)"}},
		"it begins with no version":  {[]string{"--revision=2025-11-25", bad(t, 200, "", "application/json", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":5}}`)}, exitProtocol, []string{"it names no version"}},
		"it asks for nothing":        {[]string{strange(t, plainTool, `{"resultType":"input_required"}`)}, exitProtocol, []string{"neither inputRequests nor requestState"}},
		"it asks nothing readable":   {[]string{strange(t, plainTool, `{"resultType":"input_required","inputRequests":[1]}`)}, exitProtocol, []string{"its inputRequests are no questions: [1]"}},
		"it asks without words":      {[]string{strange(t, plainTool, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":5}}}}`)}, exitProtocol, []string{"its question, elicitation/create: the message to the user is no text"}},
		"a form that is none":        {[]string{strange(t, plainTool, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"properties":5}}}}}`)}, exitProtocol, []string{`the form can not be read: {"properties":5}`}},
		"content that is none":       {[]string{strange(t, plainTool, `{"resultType":"complete","content":[{"type":5}]}`)}, exitProtocol, []string{"tools/call: content[0].type is no string: 5"}},
		"a block that lacks a text":  {[]string{strange(t, plainTool, `{"resultType":"complete","content":[{"type":"text","text":""},{"type":"text"}]}`)}, exitProtocol, []string{"tools/call: content[1].text is missing"}},
		"an isError that is none":    {[]string{strange(t, plainTool, `{"resultType":"complete","isError":"yes","content":[]}`)}, exitProtocol, []string{`its isError is no boolean: "yes"`}},
		"a list of something":        {[]string{strange(t, `{"name":7}`, ``)}, exitRefused, []string{"an item of a list was left out (list tools/list) (index 0): its name is no string: 7", "it has no tools"}},
		"a tool that reads badly":    {[]string{strange(t, `{"name":"t","inputSchema":{},"description":7}`, ``)}, exitRefused, []string{"a tool was left out (name t): its description is no string: 7", `the server's definition of "t" breaks the protocol, so it is not called: its description is no string: 7`}},
		"no schema":                  {[]string{strange(t, `{"name":"t"}`, ``)}, exitRefused, []string{"(index 0) (name t): its inputSchema is missing", `the server's definition of "t" breaks the protocol, so it is not called: its inputSchema is missing`}},
		"its list fails":             {[]string{"--revision=2025-11-25", oldServer(t, plainTool, noList).URL}, exitTool, []string{"mcpkiln: tools/list: the list broke (code -32603)\n"}},
		"it ends at once":            {[]string{"--", "sh", "-c", "echo one >&2; echo two >&2; exit 7"}, exitNetwork, []string{"exit status 7", "on its standard error:\n  | one\n  | two"}},
		"it prints a banner":         {[]string{"--", "sh", "-c", "echo '\033[31mWelcome'; exit 1"}, exitProtocol, []string{`\x1b[31mWelcome`, "writes messages to its standard output"}},
		"it breaks off":              {[]string{brokenOff(t)}, exitNetwork, []string{"the answer could not be read to its end: unexpected EOF"}},
		"it hangs up":                {[]string{hangsUp(t)}, exitNetwork, []string{"the server closed the connection without an answer"}},
		"nobody is there":            {[]string{closed(t)}, exitNetwork, []string{"connection refused", "is the address right, and does the server run?"}},
		"another protocol":           {[]string{greets(t, "SSH-2.0-OpenSSH_9.9\r\n")}, exitProtocol, []string{"SSH-2.0-OpenSSH"}},
		"no TLS":                     {[]string{"https" + strings.TrimPrefix(bad(t, 200, "", "text/plain", ""), "http")}, exitProtocol, []string{"does not speak TLS", "http://"}},
		"no TLS and no HTTP":         {[]string{"https" + strings.TrimPrefix(greets(t, "SSH-2.0-OpenSSH_9.9\r\n"), "http")}, exitProtocol, []string{"does not speak TLS"}},
		"another protocol in JSON":   {[]string{bad(t, 200, "", "application/json", `{"hello":"world"}`)}, exitProtocol, nil},
		"an event that is none":      {[]string{bad(t, 200, "", "text/event-stream", "data: {not json\n\n")}, exitProtocol, []string{"its answer to server/discover", "no message", "{not json"}},
		"401":                        {[]string{bad(t, 401, `WWW-Authenticate: Bearer realm="shop"`, "text/plain", "who are you?")}, exitAuth, []string{`realm="shop"`, "who asks", "MCPKILN_TOKEN", "--header"}},
		"403":                        {[]string{bad(t, 403, "", "text/plain", "not you")}, exitAuth, []string{"403 Forbidden", "not you", "a token that allows this", "MCPKILN_TOKEN"}},
		"404":                        {[]string{bad(t, 404, "", "text/plain", "nothing here")}, exitNetwork, []string{"404 Not Found", "/mcp"}},
		"500":                        {[]string{bad(t, 500, "", "text/plain", "\x1b[2Joh no")}, exitNetwork, []string{"500", `\x1b[2Joh no`}},
		"HTML":                       {[]string{bad(t, 200, "", "text/html", "<html><title>Log in</title>")}, exitProtocol, []string{"text/html", "<title>Log in", "is the path of the address right?"}},
		"a page elsewhere":           {[]string{bad(t, 302, "Location: https://login.example/", "text/plain", "")}, exitNetwork, []string{"redirects are not followed: to https://login.example/", "if you trust it"}},
		"a certificate of nobody":    {[]string{secure.URL}, exitNetwork, []string{"certificate", "SSL_CERT_FILE"}},
		"an answer of 2 GiB":         {[]string{endless(t)}, exitProtocol, []string{"16777216", "ask the tool for less"}},
		"a result of another type":   {[]string{strange(t, plainTool, `{"resultType":"surprise","content":[]}`)}, exitProtocol, []string{`unknown resultType "surprise"`}},
		"a result without a type":    {[]string{strange(t, plainTool, `[]`)}, exitProtocol, nil},
		"a result that breaks it":    {[]string{strange(t, typedTool, `{"resultType":"complete","content":[],"structuredContent":{"n":"\u001b[2J"}}`)}, exitProtocol, []string{"the result of t breaks its outputSchema", "/n: type: expected integer, but got string"}},
		"a result that is not there": {[]string{strange(t, typedTool, `{"resultType":"complete","content":[]}`)}, exitProtocol, []string{"no structuredContent"}},
		"an error":                   {[]string{strange(t, plainTool, `!{"code":-32603,"message":"\u001b]0;x\u0007broken"}`)}, exitTool, []string{`\x1b]0;x`, "broken"}},
		"a list that is none":        {[]string{strange(t, `5`, ``)}, exitRefused, []string{"(index 0): it is no object: 5"}},
		"a schema that is none":      {[]string{strange(t, `{"name":"t","inputSchema":{"type":"object","properties":5}}`, ``)}, exitRefused, []string{"inputSchema of t can not be read"}},
		"a schema of no object":      {[]string{strange(t, `{"name":"t","inputSchema":{"type":"string"}}`, ``)}, exitRefused, []string{`(name t): the type of its inputSchema is not object: "string"`}},
		"a schema from elsewhere":    {[]string{strange(t, `{"name":"t","inputSchema":{"$ref":"file:///etc/passwd"}}`, `{"resultType":"complete","content":[]}`)}, 0, []string{"the arguments of t are sent unchecked: its inputSchema refers to file:///etc/passwd, which is outside of it, and nothing is fetched\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"call", "t"}, c.target...)
			if last := len(c.target) - 1; c.target[0] != "--" {
				args = append(append([]string{"call"}, c.target...), "t")
				args[1], args[last+1] = args[last+1], args[1]
			}
			status, stdout, stderr := runs(t, args...)
			if status != c.status || stdout != "" || !strings.Contains(stderr, "mcpkiln: ") {
				t.Errorf("exit status %d, want %d\nstdout %q\nstderr %s", status, c.status, stdout, stderr)
			}
			for _, want := range c.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q is not in %s", want, stderr)
				}
			}
			if strings.ContainsAny(stderr, "\x1b\a\r") || len(stderr) > 4000 {
				t.Errorf("%q", stderr)
			}
			for _, of := range []string{"unmarshal", "mem://", "fork/exec", "main.", "json: ", "jsonschema"} {
				if strings.Contains(stderr, of) {
					t.Errorf("%q is of a library: %s", of, stderr)
				}
			}
		})
	}
}

// TestAResultThatSaysNothing: standard output stays empty, and it is said why.
func TestAResultThatSaysNothing(t *testing.T) {
	for answer, status := range map[string]int{`{"resultType":"complete","content":[]}`: 0, `{"resultType":"complete","isError":true,"content":[]}`: exitTool} {
		got, stdout, stderr := runs(t, "call", strange(t, plainTool, answer), "t")
		if got != status || stdout != "" || !strings.Contains(stderr, "mcpkiln: the result of t has no content\n") {
			t.Errorf("%s: exit status %d, %q, %q", answer, got, stdout, stderr)
		}
	}
}

// TestAnOutputSchemaThatTheRevisionDoesNotHave: servers list it all the same, and it promises nothing.
func TestAnOutputSchemaThatTheRevisionDoesNotHave(t *testing.T) {
	for revision, want := range map[string]int{"2024-11-05": 0, "2025-03-26": 0, "2025-06-18": exitProtocol, "2025-11-25": exitProtocol} {
		for _, also := range []string{"", `,"structuredContent":{"n":"x"}`} {
			url := strange(t, typedTool, `{"content":[{"type":"text","text":"{\"n\":1}"}]`+also+`}`)
			status, stdout, stderr := runs(t, "call", "--revision="+revision, url, "t")
			if status != want || (stdout == "{\"n\":1}\n") != (want == 0) || (stderr == "") != (want == 0) {
				t.Errorf("%s%s: exit status %d, %q, %s", revision, also, status, stdout, stderr)
			}
		}
	}
}

// TestAStreamThatBreaksAndIsNotResumed: the help is not for an address that is wrong.
func TestAStreamThatBreaksAndIsNotResumed(t *testing.T) {
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusNotFound, http.StatusBadRequest} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.NewDecoder(r.Body).Decode(&m)
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.Method != http.MethodPost:
				w.WriteHeader(status)
			case m.Method == "initialize":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)
			case m.Method == "tools/list":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, plainTool)
			case m.Method == "tools/call":
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "id: 1\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		got, _, stderr := runs(t, "call", "--revision=2025-11-25", ts.URL, "t")
		if got != exitNetwork || !strings.Contains(stderr, fmt.Sprintf("the server does not resume it: HTTP status %d", status)) || strings.Contains(stderr, "/mcp") {
			t.Errorf("%d: exit status %d, %s", status, got, stderr)
		}
		ts.Close()
	}
}

// closed is an address where nobody listens any more.
func closed(t *testing.T) string {
	ts := httptest.NewServer(nil)
	ts.Close()
	return ts.URL
}

// greets is a server of another protocol, which speaks first.
func greets(t *testing.T, text string) string {
	return accepts(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, text)
		_, _ = io.Copy(io.Discard, conn)
	})
}

// accepts is a server that gives each connection to serve, and closes it then.
func accepts(t *testing.T, serve func(conn net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				serve(conn)
				_ = conn.Close()
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// TestAServerThatDoesNotBegin: what it says in place of a message is shown when its time is over.
func TestAServerThatDoesNotBegin(t *testing.T) {
	for script, want := range map[string]struct {
		status int
		says   []string
	}{
		"echo Welcome":                    {exitProtocol, []string{"on its standard output, and no message:\n  | Welcome", "writes messages to its standard output"}},
		"echo listening on port 3000 >&2": {exitTimeout, []string{"on its standard error:\n  | listening on port 3000", "--timeout"}},
		":":                               {exitTimeout, []string{"--timeout"}},
	} {
		status, _, stderr := runs(t, "tools", "--timeout=100ms", "--", "sh", "-c", script+"; exec cat >/dev/null")
		if status != want.status {
			t.Errorf("%s: exit status %d, want %d", script, status, want.status)
		}
		for _, part := range append(want.says, "not done after 100ms") {
			if !strings.Contains(stderr, part) {
				t.Errorf("%s: %q is not in %s", script, part, stderr)
			}
		}
	}
}

// brokenOff ends in the middle of its answer.
func brokenOff(t *testing.T) string {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"jsonrpc":`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

// hangsUp ends without an answer.
func hangsUp(t *testing.T) string {
	ts := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(ts.Close)
	return ts.URL
}

// endless answers with 2 GiB.
func endless(t *testing.T) string {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		block := bytes.Repeat([]byte(" "), 1<<20)
		for range 2 << 10 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

// TestToolsOfAStrangerAreShownNotObeyed: names and descriptions, in every place where they are printed.
func TestToolsOfAStrangerAreShownNotObeyed(t *testing.T) {
	url := strange(t, `{"name":"t\u001b[2J","title":"\u009b2J","description":"a\u001b]0;x\u0007b\rc","inputSchema":{"type":"object","properties":{"p\u001b[H":{"type":"string\u001b[H","description":"\u001b[1m","default":"\u001b[7m","enum":["\u009b1m"]}}}}`, ``)
	for _, args := range [][]string{{"tools", url}, {"tools", url, "t\x1b[2J"}, {"tools", "--json", url}, {"call", url, "t\x1b[2j"}, {"__complete", "call", url, ""}, {"__complete", "call", url, "t\x1b[2J", ""}} {
		_, stdout, stderr := runs(t, args...)
		if out := stdout + stderr; out == "" || strings.ContainsAny(out, "\x1b\a\r\u009b") {
			t.Errorf("%q: %q", args, out)
		}
	}
}

// TestNothingIsCompletedThatAShellObeys: bash evaluates the words of a line to complete the next one, and @ and - mean a file and a flag here.
func TestNothingIsCompletedThatAShellObeys(t *testing.T) {
	bad := []string{"`touch x`", "$(touch x)", "a;b", "a b", "a|b", "a&b", "a>b", "a'b", "a\"b", "~x", "*", "a?", "{a,b}", "!!", "#a", "=ls", "@/etc/passwd", "--header", "a\\b", "a\nb", "a\tb", ""}
	schema := map[string]any{"fine": map[string]any{"enum": append(slices.Clone(bad[:15]), "good-1")}}
	definitions := []map[string]any{{"name": "plain.tool/1", "inputSchema": map[string]any{"type": "object", "properties": schema}}}
	for _, name := range bad {
		schema[name] = map[string]any{"type": "string"}
		definitions = append(definitions, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
	}
	text, err := json.Marshal(definitions)
	if err != nil {
		t.Fatal(err)
	}
	url := strange(t, strings.Trim(string(text), "[]"), ``)
	for word, want := range map[string]string{"": "fine=\n:6\n", "fine=": "fine=good-1\n:6\n"} {
		if _, stdout, _ := runs(t, "__complete", "call", url, "plain.tool/1", word); stdout != want {
			t.Errorf("%q: %q", word, stdout)
		}
	}
	if _, stdout, _ := runs(t, "__complete", "call", url, ""); stdout != "plain.tool/1\n:4\n" {
		t.Errorf("%q", stdout)
	}
}

// TestAQuestionSaysWhoAsks, in the user's words: the server has none of its own.
func TestAQuestionSaysWhoAsks(t *testing.T) {
	url := strange(t, plainTool, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}}}`)
	status, stdout, stderr := runs(t, "call", url, "t")
	if want := `{"server":"` + strings.TrimPrefix(url, "http://") + `",`; status != exitInputRequired || !strings.HasPrefix(stdout, want) {
		t.Errorf("%d, %s%s", status, stdout, stderr)
	}
}

// TestAPageIsAgreedToByItsAddress: nobody agrees to open a page that he has not named: not by an answer that is meant for a form, and not by the page of another.
func TestAPageIsAgreedToByItsAddress(t *testing.T) {
	const page = "https://pay.example/now?order=1"
	for given, agreed := range map[string]bool{
		`{"overwrite":true}`: false, `{}`: false, "https://pay.example/no": false, "https://pay.example/now/": false, "https://pay.exampl": false, "https://": false,
		"https://pay.example": true, "https://pay.example/": true, page: true,
	} {
		answers := make(chan string, 1)
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ InputResponses json.RawMessage }
			}
			_ = json.NewDecoder(r.Body).Decode(&m)
			result := `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","tools":[` + plainTool + `]`
			switch {
			case m.Params.InputResponses != nil:
				answers <- string(m.Params.InputResponses)
				result = `"content":[]`
			case m.Method == "tools/call":
				result = `"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","message":"Pay","url":"` + page + `","elicitationId":"1"}}}`
			}
			if m.Method != "tools/call" || m.Params.InputResponses != nil {
				result = `"resultType":"complete",` + result
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, result)
		}))
		status, stdout, stderr := runs(t, "call", ts.URL, "t", "--answer", given)
		ts.Close()
		close(answers)
		answer := <-answers
		switch {
		case agreed && (status != 0 || !strings.Contains(answer, `"action":"accept"`)):
			t.Errorf("%s: %d, %s%s, %s", given, status, stdout, stderr, answer)
		case given == "https://" && status == exitRefused:
		case !agreed && (status != exitInputRequired || answer != "" || !strings.Contains(stdout, page) || !strings.Contains(stderr, page)):
			t.Errorf("%s: %d, %s%s, %s", given, status, stdout, stderr, answer)
		}
	}
}
