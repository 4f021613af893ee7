package manifest

import (
	"strings"
	"testing"
)

// TestDAY05AddTool adds a tool behind the last one, or the one that it follows by name, whatever the manifest's style; all else stays, byte for byte.
func TestDAY05AddTool(t *testing.T) {
	const entry = "  b_tool:\n    description: Does it.\n    execution: {taskSupport: required}\n    inputSchema: {type: object, properties: {}}\n"
	wide := strings.ReplaceAll(strings.ReplaceAll(entry, "  ", "    "), "        ", "      ")
	for name, c := range map[string]struct{ before, after, added string }{
		"at the end":        {"tools:\n  a: {inputSchema: {type: object}}\n", "", entry},
		"without a newline": {"tools:\n  a: {inputSchema: {type: object}}", "", "\n" + entry},
		"in the middle":     {"# top\ntools: # all\n  a:\n    # inside\n    inputSchema: {type: object} # behind\n    # last of a\n", "\n# prompts\nprompts: {p: {}}\n", entry},
		"with blank lines":  {"tools:\n  # first\n  z:\n    inputSchema: {type: object}\n\n  # second\n  a:\n    description: |\n      text\n\n      more\n    inputSchema: {type: object}\n", "\nmethods: [roots/list]\n", "\n" + entry},
		"another indent":    {"tools:\n    a:\n        inputSchema: {type: object}\n", "", wide},
		"sorted":            {"tools:\n  a:\n    inputSchema: {type: object}\n    # last of a\n", "  # about c\n  c:\n    inputSchema: {type: object}\n  d: {inputSchema: {type: object}}\n", entry},
		"sorted, with blank lines": {"tools:\n  a: {inputSchema: {type: object}}\n\n  b: {inputSchema: {type: object}}\n",
			"\n  # about c\n  c: {inputSchema: {type: object}}\n", "\n" + entry},
		"sorted, at the end":                 {"tools:\n  a: {inputSchema: {type: object}}\n  a2: {inputSchema: {type: object}}\n  b: {inputSchema: {type: object}}\n", "prompts: {p: {}}\n", entry},
		"sorted, before all":                 {"tools:\n  c: {inputSchema: {type: object}}\n  d: {inputSchema: {type: object}}\n  e: {inputSchema: {type: object}}\n", "", entry},
		"two, which may be sorted by chance": {"tools:\n  a: {inputSchema: {type: object}}\n  c: {inputSchema: {type: object}}\n", "", entry},
		"no tools":                           {"server: {name: s, version: \"1\"}\nmethods: [roots/list]\n", "", "tools:\n" + entry},
	} {
		got, err := AddTool("m.yaml", []byte(c.before+c.after), NewTool{Name: "b_tool", Description: "Does it.", Task: Required})
		if want := c.before + c.added + c.after; err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
}

// TestDAY05AddToolRefuses says why nothing can be added, and what to write where the style is another one.
func TestDAY05AddToolRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"tools:\n  b_tool: {inputSchema: {type: object}}\n":                `m.yaml:2:3: there is a tool "b_tool" already`,
		"tools: {a: {inputSchema: {type: object}}}\n":                      "write this yourself:\n  b_tool:\n    description: \"TODO: what b_tool does",
		"server: {}\ntools:\n  - {name: a, inputSchema: {type: object}}\n": "write this yourself",
		"tools: {}\n": "write this yourself",
		"tools: [\n":  "can not be read",
		"[{name: a, inputSchema: {type: object}}]": "mcpkiln import makes a manifest of it",
	} {
		if got, err := AddTool("m.yaml", []byte(text), NewTool{Name: "b_tool"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\n%s", text, err, got)
		}
	}
}
