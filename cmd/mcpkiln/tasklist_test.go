package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestOneOddTaskEndsNoList: the others are listed.
func TestOneOddTaskEndsNoList(t *testing.T) {
	_, text := ask(t, 0)
	shelf, err := keep.Open()
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"t0", "t1"} { // the server answers for t1, whatever it is asked for
		var ref client.Ref
		if err := json.Unmarshal([]byte(strings.Replace(text, "t1", id, 1)), &ref); err != nil {
			t.Fatal(err)
		}
		if err := shelf.Put(ref, time.Now().Add(time.Duration(i)*time.Second), 0); err != nil {
			t.Fatal(err)
		}
	}
	status, stdout, stderr := runs(t, "task", "list", endpointOf(t, text))
	if status != exitProtocol || stdout != "t1  t  completed\n" || !strings.HasPrefix(stderr, "mcpkiln: t0 can not be read: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
}

// TestTSK21ATaskThatIsUnknownToOneCallerIsKeptForAnother, by each command, until its time is over.
func TestTSK21ATaskThatIsUnknownToOneCallerIsKeptForAnother(t *testing.T) {
	a, ref := ask(t, 0, sureForm)
	if status, stdout, stderr := callsTool(t, ref, "--detach"); status != 0 {
		t.Fatal(stdout, stderr)
	}
	for _, args := range [][]string{{"list", endpointOf(t, ref)}, {"get", "t1"}, {"wait", "t1"}, {"result", "t1"}, {"cancel", "t1"}, {"answer", "t1", "yes=true"}} {
		a.change(func() { a.expired = true }) // to this caller
		status, stdout, stderr := runs(t, append([]string{"task"}, args...)...)
		a.change(func() { a.expired = false })
		says := "\n  this machine keeps the reference until "
		if args[0] == "list" {
			says = "\nmcpkiln: tasks kept here that the server does not know, or not as yours, are left out: 1\n"
		}
		if !strings.Contains(stderr, says) {
			t.Errorf("%q: status %d: %s%s", args, status, stdout, stderr)
		}
		if status, stdout, stderr := runs(t, "task", "list", endpointOf(t, ref)); status != 0 || stdout != "t1  t  input_required\n" {
			t.Errorf("after %q: status %d: %s%s", args, status, stdout, stderr)
		}
	}
}

// TestATaskWhoseEndWasSeenIsNotKept any longer.
func TestATaskWhoseEndWasSeenIsNotKept(t *testing.T) {
	const failed, cancelled = `"status":"failed","error":{"code":-32603,"message":"the disk is full"}`, `"status":"cancelled"`
	for _, c := range []struct {
		args  []string
		state string // "": completed
		kept  bool
	}{
		{[]string{"wait"}, "", false}, {[]string{"result"}, "", false}, {[]string{"wait"}, failed, false}, {[]string{"wait"}, cancelled, false},
		{[]string{"get"}, "", true}, {[]string{"get"}, failed, true}, {[]string{"cancel"}, `"status":"working"`, false}, {[]string{"cancel"}, "", true},
	} {
		a, ref := ask(t, 0)
		a.change(func() { a.stale = []string{`"status":"working"`} })
		if status, stdout, stderr := callsTool(t, ref, "--detach"); status != 0 {
			t.Fatal(stdout, stderr)
		}
		a.change(func() {
			a.stale = nil
			if c.state != "" {
				a.stale = slices.Repeat([]string{c.state}, 20)
			}
			a.cancels = func() { a.stale = slices.Repeat([]string{cancelled}, 20) }
		})
		_, stdout, stderr := runs(t, "task", c.args[0], "t1")
		if ids := strings.Split(completes(t, "task", "get", ""), "\t"); (ids[0] == "t1") != c.kept {
			t.Errorf("%s of %s: %q is kept: %s%s", c.args[0], c.state, ids, stdout, stderr)
		}
	}
}

// TestEXT22TheLineToPasteNamesOneTask: where tasks of two servers have the same id, it has the whole reference, as the list of each server has.
func TestEXT22TheLineToPasteNamesOneTask(t *testing.T) {
	config := t.TempDir()
	var refs []string
	for range 2 {
		_, ref := ask(t, 0, sureForm)
		refs = append(refs, ref)
		t.Setenv("XDG_CONFIG_HOME", config)
		runs(t, "task", "wait", ref) // prints the line, and keeps the task
	}
	for _, ref := range refs {
		whole := "'" + ref + "'"
		_, stdout, stderr := runs(t, "task", "get", ref)
		if want := "mcpkiln task answer " + whole + " --key q0 yes=…\n"; !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %s%s", want, stdout, stderr)
		}
		if status, stdout, stderr := runs(t, "task", "list", endpointOf(t, ref)); status != 0 || !strings.HasPrefix(stdout, whole+"  t  input_required") {
			t.Errorf("status %d: %s%s", status, stdout, stderr)
		}
	}
	if status, stdout, stderr := runs(t, "task", "get", "t1"); status != exitRefused || !strings.Contains(stderr, endpointOf(t, refs[0])+" and "+endpointOf(t, refs[1])+": write the reference of one") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

// TestALineToPasteNamesTheServerAsItWasNamed: by the entry of an mcp.json, which has the command, the variables and the headers.
func TestALineToPasteNamesTheServerAsItWasNamed(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for want, c := range map[string]struct{ endpoint, entry, config string }{
		"t1": {"https://shop.example/", "", ""}, "t1 -- COMMAND": {"shop", "", ""}, "t1 shop": {"https://shop.example/", "shop", ""}, "t1 shop --config 'my mcp.json'": {"shop", "shop", "my mcp.json"},
	} {
		v := &visit{remote: &remote{entry: c.entry, config: c.config}, ref: &client.Ref{Version: 1, Endpoint: c.endpoint, ID: "t1"}}
		if got := v.followHint("wait"); got != ": mcpkiln task wait "+want {
			t.Errorf("%q, want %q", got, want)
		}
		drop(*v.ref)
	}
	v := &visit{remote: &remote{entry: "shop"}}
	if got := v.answerLine(&client.Question{URL: "https://pay.example"}, client.Ref{Version: 1, Endpoint: "shop", ID: "t1"}); got != "mcpkiln task answer t1 --target shop" {
		t.Error(got)
	}
}

// TestAFailedTaskShowsItsError, with the code.
func TestAFailedTaskShowsItsError(t *testing.T) {
	a, ref := ask(t, 0)
	failed := `"status":"failed","statusMessage":"no luck","error":{"code":-32603,"message":"the disk is full"}`
	a.change(func() { a.stale = []string{failed, failed, failed} })
	if status, stdout, stderr := runs(t, "task", "get", ref); status != 0 || stdout != "failed  no luck: the disk is full (code -32603)\n" {
		t.Errorf("status %d\n%s\n%s", status, stdout, stderr)
	}
}

// TestAServerOfTheOldTransportIsSaidToBeOne: it takes no POST where its stream is.
func TestAServerOfTheOldTransportIsSaidToBeOne(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }))
	defer ts.Close()
	if status, _, stderr := runs(t, "tools", ts.URL); status != exitNetwork || !strings.Contains(stderr, "HTTP+SSE, the transport of 2024-11-05 with two endpoints, is not spoken") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
