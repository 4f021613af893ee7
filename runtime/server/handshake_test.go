package server

import (
	"testing"
)

func TestHandshakeAgreesOnARevision(t *testing.T) {
	f := newFixture(t, []Tool{tool("echo", structured(echo))})
	for asked, want := range map[string]string{"2025-11-25": "2025-11-25", "1999-01-01": "2025-11-25"} {
		c := f.dial(t.Context())
		m := c.request("1", "initialize", `{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		if got := m.str("result", "protocolVersion"); got != want {
			t.Errorf("asked for %s, got %s", asked, m.raw)
		}
		c.close()
	}
}
