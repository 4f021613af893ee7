package lower

import (
	"reflect"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// TestQuestionsHideNothingOfCall: a question with the name of a method of server.Call would hide it.
func TestQuestionsHideNothingOfCall(t *testing.T) {
	for method := range reflect.TypeFor[*server.Call]().Methods() {
		if !slices.Contains(callMembers(), method.Name) {
			t.Errorf("%s is not among the names that questions avoid", method.Name)
		}
	}
}
