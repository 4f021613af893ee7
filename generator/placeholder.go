package generator

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// placeholderBody is what is left of a file below its header, until go generate, which had listed it, has ended. The build constraint keeps it
// out of builds and of the next listing.
const placeholderBody = `
//go:build ignore

// Nothing is generated here any more. The next run of mcpkiln removes this file.
package ignore
`

// remains is the content that takes the place of a stale file; nil: it is removed.
func (o Options) remains(t *target, name string) []byte {
	data := t.files[name]
	if !o.UnderGoGenerate || path.Ext(name) != ".go" || isPlaceholder(data) {
		return nil
	}
	body := Header + "\n" + placeholderBody
	if o.PruneCommand != "" {
		body += fmt.Sprintf("\n//go:generate %s $GOFILE\n", o.PruneCommand)
	}
	var lines []string
	if manifest, digest := sourceIn(name, data); name == docName && manifest != "" {
		lines = []string{manifestLine + digest + " " + manifest} // the directory stays known
	}
	return seal(name, []byte(body), lines...)
}

func isPlaceholder(data []byte) bool {
	text := unixLines(data)
	return hasHeader(docName, text) && bytes.Contains(text, []byte("\n"+placeholderBody))
}

// Prune removes a placeholder, and its folder if that is left empty. Any other file stays: go generate may have been slower than another
// run. The error is one of the file system.
func Prune(file string) error {
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil || !isPlaceholder(data) || !sealedSomewhere(absolute(file), unixLines(data)) {
		return err
	}
	if err := os.Remove(file); err != nil {
		return err
	}
	for dir := filepath.Dir(absolute(file)); os.Remove(dir) == nil; { // until one is not empty
		dir = filepath.Dir(dir)
	}
	return nil
}

// sealedSomewhere reports whether a file has the hash that it has in a package, or in one of the folders below it.
func sealedSomewhere(file string, text []byte) bool {
	elements := strings.Split(filepath.ToSlash(file), "/")
	for n := range elements {
		if isSealed(path.Join(elements[len(elements)-1-n:]...), text) {
			return true
		}
	}
	return false
}
