package generator

import (
	"bytes"
	"testing"
)

func TestLockSaysWhoMadeItOfWhat(t *testing.T) {
	cfg := Config{Manifest: goldens(t)[0].config.Manifest, ToolVersion: "v9.8.7", Dir: "servers/echo", Flags: map[string]string{"package": "echo"}}
	lock, err := parseLock([]byte(mustGenerate(t, cfg).file(t, LockName)))
	if err != nil || lock.Tool != "v9.8.7" || lock.Manifest != "servers/echo/mcpkiln.yaml" || lock.Flags["package"] != "echo" {
		t.Errorf("%+v %v", lock, err)
	}
}

// TestDAY04LockDoesNotChangeWithATool, nor does any other file but for what belongs to it.
func TestDAY04LockDoesNotChangeWithATool(t *testing.T) {
	before, after := mustGenerate(t, config(bigManifest(3))), mustGenerate(t, config(bigManifest(4)))
	if a, b := before.file(t, LockName), after.file(t, LockName); a != b {
		t.Errorf("the lock was\n%s\nand is\n%s", a, b)
	}
}

// TestDigestTakesACheckoutWithCRLFForTheSame: check must not fail on a machine where git writes other ends of lines.
func TestDigestTakesACheckoutWithCRLFForTheSame(t *testing.T) {
	m := goldens(t)[0].config.Manifest
	want := mustGenerate(t, Config{Manifest: m}).file(t, docName)
	m.Data = bytes.ReplaceAll(m.Data, []byte("\n"), []byte("\r\n"))
	if got := mustGenerate(t, Config{Manifest: m}).file(t, docName); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
