package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// form is a question for a text, as a member of inputRequests.
func form(key, field string) string {
	return fmt.Sprintf(`"%s":{"method":"elicitation/create","params":{"message":"%s?","requestedSchema":{"type":"object","properties":{"%s":{"type":"string"}},"required":["%s"]}}}`, key, key, field, field)
}

// page is a question to open a page, as a member of inputRequests.
func page(key, url string) string {
	return fmt.Sprintf(`"%s":{"method":"elicitation/create","params":{"mode":"url","message":"%s?","url":"%s","elicitationId":"e"}}`, key, key, url)
}

// rounds is a server of 2026-07-28 whose tool asks in rounds: each has the questions of one of the elements, in which %d is the number of the call.
func rounds(t *testing.T, all ...string) (url string) {
	t.Helper()
	var calls atomic.Int32
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				InputResponses map[string]struct{ Action string }
				RequestState   string
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		round := 0
		if _, err := fmt.Sscan(m.Params.RequestState, &round); err != nil {
			calls.Add(1)
		}
		result := `{"resultType":"complete"}`
		switch {
		case m.Method == "server/discover":
			result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
		case m.Method == "tools/list":
			result = `{"resultType":"complete","tools":[` + plainTool + `],"ttlMs":0,"cacheScope":"private"}`
		case round < len(all):
			result = fmt.Sprintf(`{"resultType":"input_required","requestState":"%d","inputRequests":{%s}}`, round+1, strings.ReplaceAll(all[round], "%d", fmt.Sprint(calls.Load())))
		default:
			result = `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}

// TestFollowingTheAdviceOfStatus6Ends: it names all that a round asks, so that each round takes one more call; a page with another address in each call takes
// two.
func TestFollowingTheAdviceOfStatus6Ends(t *testing.T) {
	advice := regexp.MustCompile(`(?m)call it again with (.*?)(, or --answer decline)?$`)
	for name, c := range map[string]struct {
		rounds []string
		calls  int
	}{
		"one":                  {[]string{form("a", "x")}, 2},
		"two forms":            {[]string{form("b", "x") + "," + form("a", "y")}, 2},
		"two of one form":      {[]string{form("a", "x") + "," + form("b", "x")}, 2},
		"a form and a page":    {[]string{form("a", "x") + "," + page("b", "https://shop.example/it's?a=1&b=2")}, 2},
		"two pages":            {[]string{page("a", "https://shop.example/a") + "," + page("b", "https://shop.example/b")}, 2},
		"two rounds":           {[]string{form("a", "x"), form("b", "y") + "," + form("c", "z")}, 3},
		"a page of each call":  {[]string{page("a", "https://shop.example/%d")}, 3},
		"pages of each call":   {[]string{page("a", "https://shop.example/%d/a") + "," + form("b", "x") + "," + page("c", "https://bank.example/%d")}, 3},
		"a page and two forms": {[]string{form("a", "x") + "," + page("b", "https://shop.example/%d") + "," + form("c", "y")}, 3},
	} {
		url := rounds(t, c.rounds...)
		flags := ""
		for call := 1; ; call++ {
			cmd := exec.Command("bash", "-c", "mcpkiln call "+url+" t "+flags)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			said := advice.FindStringSubmatch(stderr.String())
			if call == c.calls {
				if err != nil || stdout.String() != "done\n" || stderr.String() != "" {
					t.Errorf("%s: call %d with %s: %v: %s%s", name, call, flags, err, &stdout, &stderr)
				}
				break
			}
			if cmd.ProcessState.ExitCode() != exitInputRequired || said == nil {
				t.Errorf("%s: call %d with %s: %v: %s%s", name, call, flags, err, &stdout, &stderr)
				break
			}
			flags = strings.ReplaceAll(said[1], "…", `"v"`)
		}
	}
}

// TestTSK27AllThatATaskAsksIsToldTogether, each with the line that answers it.
func TestTSK27AllThatATaskAsksIsToldTogether(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	_, ref := ask(t, 0, sureForm, nameForm, asksSample)
	status, stdout, stderr := runs(t, "task", "wait", ref)
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); status != exitInputRequired || len(lines) != 3 {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	for _, want := range []string{
		"mcpkiln: the task asks 2 things, and there is no terminal to ask you on\n  answer each, or write decline in place of the fields:\n",
		"\n  mcpkiln task answer t1 --key q0 yes=…\n", "\n  mcpkiln task answer t1 --key q1 name=…\n",
		"the task asks for sampling",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in %s", want, stderr)
		}
	}
	if again, _, stderr := runs(t, "task", "get", stdout); again != 0 {
		t.Errorf("what was printed is no reference: %s", stderr)
	}
}
