package wire

import (
	"iter"
	"strings"
)

// Steps returns the member names in the path of a capability, see Capabilities.
func Steps(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(path, "/") {
			if !yield(UnescapeStep(name)) {
				return
			}
		}
	}
}

// UnescapeStep undoes the escapes of a member name in a capability's path.
func UnescapeStep(name string) string {
	if !strings.Contains(name, "~") {
		return name
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}
