package main

import "testing"

// TestDAY01PruneCommand: a directive is only repeated in another directory where it means the same there.
func TestDAY01PruneCommand(t *testing.T) {
	for directive, want := range map[string]string{
		"//go:generate go tool mcpkiln generate":                                                      "go tool mcpkiln prune",
		"//go:generate mcpkiln generate api.yaml":                                                     "mcpkiln prune",
		"//go:generate go run github.com/mcpkiln/mcpkiln/cmd/mcpkiln@v1.2.3 generate --out generated": "go run github.com/mcpkiln/mcpkiln/cmd/mcpkiln@v1.2.3 prune",
		"//go:generate go run ../cmd/mcpkiln generate":                                                "",
		"//go:generate ./mcpkiln generate":                                                            "",
		"//go:generate $DIR/mcpkiln generate":                                                         "",
		"//go:generate \"my tools/mcpkiln\" generate":                                                 "",
		"//go:generate make generate":                                                                 "",
		"//go:generate sh generate.sh":                                                                "",
		"//go:generate":                                                                               "",
	} {
		if got := pruneCommand(directive); got != want {
			t.Errorf("pruneCommand(%q) = %q, want %q", directive, got, want)
		}
	}
}
