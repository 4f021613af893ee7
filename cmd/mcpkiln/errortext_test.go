package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestTSK27WhatAServerSaysStaysOnItsLine: a line of its own would look like one of this command.
func TestTSK27WhatAServerSaysStaysOnItsLine(t *testing.T) {
	err := &statusError{exitTool, fmt.Errorf("the server says: %w\n  help", &client.Error{Code: 1, Message: "no\nmcpkiln: paid"})}
	text := errorText(err)
	if !strings.Contains(text, "no mcpkiln: paid") || !strings.HasSuffix(text, "\n  help") {
		t.Errorf("%q", text)
	}
	for _, b := range []*block{{Type: "image", MIMEType: "a\nb"}, {Type: "resource_link", Name: "a", URI: "x:\ny"}, {Type: "a\nb"}} {
		if text := b.String(); strings.Contains(text, "\n") {
			t.Errorf("%q", text)
		}
	}
}
