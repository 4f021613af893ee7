package generator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// digest is a hash of all that was read and of every override: files that differ with the same digest come from another version of mcpkiln.
// Comments in the manifest and the order of its sections do not count. Neither does the output directory.
func (r *run) digest() string {
	c := r.cfg
	parts := [][]byte{sections(r.manifest.Root, len(c.Manifest.Data)), unixLines(c.Schema.Data)}
	for _, override := range []string{c.Package, c.ServerName, c.ServerVersion, strings.Join(c.Revisions, ","), fmt.Sprint(c.MaxTools)} {
		parts = append(parts, []byte(override))
	}
	for _, f := range c.Files {
		parts = append(parts, []byte(f.Path), unixLines(f.Data))
	}
	for _, f := range c.Folders {
		for _, name := range slices.Sorted(maps.Keys(f.Files)) {
			parts = append(parts, []byte(f.Path), []byte(name), unixLines(f.Files[name]))
		}
	}
	return fingerprint(parts...)
}

// sections is the manifest as JSON, its top-level keys sorted; a saved tools/list answer as it is. size is the expected length.
func sections(root *schema.Node, size int) []byte {
	b := make([]byte, 0, size)
	if root.Kind != schema.Object {
		return root.AppendJSON(b)
	}
	sorted := *root
	sorted.Members = slices.SortedFunc(slices.Values(root.Members), func(a, b schema.Member) int { return strings.Compare(a.Key, b.Key) })
	return sorted.AppendJSON(b)
}
