package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnEntryThatDoesNotStartIsNamed: its command stands in a file.
func TestAnEntryThatDoesNotStartIsNamed(t *testing.T) {
	config := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(config, []byte(`{"mcpServers":{"gone":{"command":"no-such-server"},"mute":{"command":"true"},"one":{"command":"no-such-server -x"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for entry, says := range map[string]string{
		"gone": "the server does not start: no-such-server: executable file not found in $PATH\n  its command is that of the entry gone\n",
		"one":  "\n  its command is that of the entry one, and names the program alone: arguments go into \"args\"\n",
		"mute": "exit status 0\n  its command is that of the entry mute\n  is that a server? ",
	} {
		if status, _, stderr := runs(t, "tools", "--config", config, entry); status != exitNetwork || !strings.Contains(stderr, says) {
			t.Errorf("status %d: %s", status, stderr)
		}
	}
}

// noList fails as the list of tools.
func noList(w http.ResponseWriter, _ *http.Request, method string, id json.RawMessage) bool {
	if method == "tools/list" {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"the list broke"}}`, id)
	}
	return method == "tools/list"
}

// TestAServerWithoutToolsIsSaidToHaveNone on standard error: nothing on standard output is nothing listed.
func TestAServerWithoutToolsIsSaidToHaveNone(t *testing.T) {
	status, stdout, stderr := runs(t, "tools", strange(t, "", ""))
	if status != 0 || stdout != "" || stderr != "mcpkiln: the server has no tools, or shows you none\n" {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}
