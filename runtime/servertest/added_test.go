package servertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
)

// everyBlock is one of each kind, with all that can be said of it.
func everyBlock() (all []server.Block) {
	when := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	for _, b := range []server.Block{
		server.Text("a text"),
		server.Image("image/png", []byte("png")),
		server.Audio("audio/wav", []byte("wav")),
		server.TextResource("test://r", "text/plain", "contents"),
		server.BlobResource("test://b", "application/octet-stream", []byte{0, 1, 2}),
		server.Link("test://l", "l").Title("L").Description("what it is").MIMEType("text/plain").Size(12),
	} {
		all = append(all, b, b.Audience(server.RoleUser).Priority(0.5).LastModified(when).Meta("example.com/k", 1))
	}
	return all
}

// TestSRV04BlocksAreValidInEveryRevision holds results with every block against the revision's own definition of a result.
func TestSRV04BlocksAreValidInEveryRevision(t *testing.T) {
	rich := tool("rich", func(_ context.Context, call *server.Call, in *input) (*output, error) {
		if in.Text == "fail" {
			return nil, &server.ToolError{Message: "no", Data: map[string]int{"free": 3}, Content: everyBlock()}
		}
		call.Summary("the summary")
		call.Content(everyBlock()...)
		call.ResultMeta("example.com/k", 1)
		return &output{"out"}, nil
	})
	has := map[string][2]string{ // of each revision: the first one that has it, and what stands in its place before
		"audio": {"2025-03-26", "[audio audio/wav: not in protocol revision"}, "resource_link": {"2025-06-18", "L: test://l\nwhat it is"},
	}
	eachRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, rich), servertest.WithRevision(revision))
		result, err := c.Call("rich", text("go"))
		if err != nil {
			t.Fatal(err)
		}
		validate(t, revision, result.Raw)
		if out, err := servertest.Output[output](result, nil); err != nil || out.Text != "out" || !strings.HasPrefix(result.Text(), "the summary\n") {
			t.Errorf("got %v, %v: %s", out, err, result.Raw)
		}
		if inText := strings.Contains(result.Text(), `{"text":"out"}`); inText != (revision < "2025-06-18") {
			t.Errorf("the output's JSON is among the texts: %v", inText)
		}
		for kind, since := range has {
			if got := bytes.Contains(result.Raw, []byte(`"type":"`+kind+`"`)); got != (revision >= since[0]) {
				t.Errorf("%s: %v", kind, got)
			}
			if got := strings.Contains(result.Text(), since[1]); got != (revision < since[0]) {
				t.Errorf("%s as a text: %v", kind, got)
			}
		}
		_, err = c.Call("rich", text("fail"))
		failed := (*servertest.ToolError)(nil)
		if !errors.As(err, &failed) || !strings.HasPrefix(failed.Error(), "no\n{\"free\":3}\n") || failed.Result.Structured != nil {
			t.Fatalf("got %v", err)
		}
		validate(t, revision, failed.Result.Raw)
	})
}

// validate holds a tool's result against the document of the revision.
func validate(t *testing.T, revision string, result []byte) {
	t.Helper()
	document, err := os.ReadFile("../../schema/" + revision + "/core.json")
	if err != nil {
		t.Fatal(err)
	}
	at := "mem://core.json#/definitions/CallToolResult"
	if bytes.Contains(document, []byte(`"$defs"`)) {
		at = "mem://core.json#/$defs/CallToolResult"
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("mem://core.json", bytes.NewReader(document)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(at)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(result, &v); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %#v\n%s", revision, err, result)
	}
}

// TestSRV04ARichResultOfATask keeps what the run added.
func TestSRV04ARichResultOfATask(t *testing.T) {
	eachTaskRevision(t, func(t *testing.T, revision string) {
		srv := newServer(t, tool("rich", func(_ context.Context, call *server.Call, in *input) (*output, error) {
			call.Summary("done")
			call.Content(server.Image("image/png", []byte(in.Text)))
			return &output{"out"}, nil
		}, asTask(server.TaskRequired)))
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		job, err := c.Task("rich", text("pixels"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := job.Result()
		if err != nil || len(r.Content) != 2 || r.Content[0].Text != "done" || string(r.Content[1].Data) != "pixels" || string(r.Structured) != `{"text":"out"}` {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}
