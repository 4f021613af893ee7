package server

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDAY07HandlersPageHasEveryMethodOfACall: what handlers can call is found in one place.
func TestDAY07HandlersPageHasEveryMethodOfACall(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for m := range reflect.TypeFor[*Call]().Methods() {
		if !strings.Contains(string(page), "`"+m.Name+"(") {
			t.Errorf("the page says nothing of call.%s", m.Name)
		}
	}
}
