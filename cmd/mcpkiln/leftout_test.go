package main

import (
	"strconv"
	"strings"
	"testing"
)

// TestEXT21AMalformedToolHidesNoOther: the others are listed, called and completed, and the malformed ones are refused with the reason.
func TestEXT21AMalformedToolHidesNoOther(t *testing.T) {
	for definition, why := range map[string]string{
		`{"name":"bad","inputSchema":{"type":"object"},"description":7}`:                 "its description is no string: 7",
		`{"name":"bad","inputSchema":{"type":"object"},"annotations":[]}`:                "its annotations is no object: []",
		`{"name":"bad","inputSchema":{"type":"object"},"execution":{"taskSupport":[1]}}`: `its execution.taskSupport is no string: {"taskSupport":[1]}`,
		`{"name":"bad","inputSchema":{"type":"array"}}`:                                  `the type of its inputSchema is not object: "array"`,
		`{"name":"bad"}`: "its inputSchema is missing",
	} {
		url := strange(t, definition+`,`+plainTool, `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`)
		for _, c := range []struct {
			args   []string
			status int
			stdout string
			says   string
		}{
			{[]string{"tools", url}, 0, "t\n", ""},
			{[]string{"tools", url, "--json", "--revision=2025-11-25"}, 0, `{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}},"tools":[` + plainTool + `],"leftOut":[{"tool":"bad","why":` + strconv.Quote(why) + "}]}\n", ""},
			{[]string{"call", url, "t"}, 0, "done\n", ""},
			{[]string{"__complete", "call", url, ""}, 0, "t\n:4\n", ""},
			{[]string{"call", url, "bad"}, exitRefused, "", `the server's definition of "bad" breaks the protocol, so it is not called: ` + why},
			{[]string{"tools", url, "bad", "--json"}, exitRefused, "", `the server's definition of "bad" breaks the protocol`},
		} {
			status, stdout, stderr := runs(t, c.args...)
			shown := strings.ReplaceAll(strings.ReplaceAll(stdout, "  \n", "\n"), "\t", "")
			if status != c.status || !strings.Contains(shown, c.stdout) || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "(name bad): "+why) {
				t.Errorf("%s, %v: status %d: %s%s", definition, c.args, status, stdout, stderr)
			}
		}
	}
}
