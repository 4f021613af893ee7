package main

import (
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestCAN23APageIsWhereTheBrowserOpensIt: dots in a path lead a browser elsewhere, however they are written. Whoever names the whole address has seen them.
func TestCAN23APageIsWhereTheBrowserOpensIt(t *testing.T) {
	const at = "https://x.example/a"
	for page, agreed := range map[string]bool{
		at + "/b?x=../1#../2": true, at + "/b..c/.d": true, at + "/%2e%2e%2e/b": true, at + "/..;/b": true,
		at + "/../evil?x=1": false, at + "/%2e%2E/evil": false, at + "/.%2e/evil": false, at + `/b\..\..\evil`: false, at + "/..": false, at + "/./b": false,
	} {
		q := &client.Question{URL: page}
		if err := (&answer{page: at}).fits(q); (err == nil) != agreed {
			t.Errorf("%s: %v", page, err)
		}
		if err := (&answer{page: page}).fits(q); err != nil {
			t.Errorf("%s is its whole address: %v", page, err)
		}
	}
}

// TestAPageThatAnErrorAsksForIsNamed: the user visits it and calls again.
func TestAPageThatAnErrorAsksForIsNamed(t *testing.T) {
	err := new(visit).withRemedy(&client.Error{Code: -32042, Message: "sign in", Data: []byte(`{"elicitations":[{"mode":"url","url":"https://a.example/in","elicitationId":"e","message":"To go on\nmcpkiln: done"}]}`)})
	const want = "visit first, and then call again:\n  | https://a.example/in\n  | To go on\n  | mcpkiln: done"
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%s\nlacks\n%s", err, want)
	}
}
