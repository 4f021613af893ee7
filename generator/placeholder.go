package generator

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// placeholderBody is the text of a placeholder below its header: go generate, which has listed the file, must still find it. The build
// constraint keeps it out of builds and of the next listing.
const placeholderBody = `
//go:build ignore

// Nothing is generated here any more. The next run of mcpkiln removes this file.
package ignore
`

// remains is the content of the placeholder for a stale file; nil: the file is removed.
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
		lines = []string{manifestLine + digest + " " + manifest} // so that the directory is still recognised
	}
	return seal(name, []byte(body), lines...)
}

func isPlaceholder(data []byte) bool {
	text := unixLines(data)
	return hasHeader(docName, text) && bytes.Contains(text, []byte("\n"+placeholderBody))
}

// Prune removes a placeholder, and the folders above it that are left empty. If file is no placeholder it stays: another run may have generated
// it again meanwhile. The error is one of the file system.
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

// sealedSomewhere reports whether the hash of a file is right for its path from the output directory, which may be any directory above it.
func sealedSomewhere(file string, text []byte) bool {
	elements := strings.Split(filepath.ToSlash(file), "/")
	for n := range elements {
		if isSealed(path.Join(elements[len(elements)-1-n:]...), text) {
			return true
		}
	}
	return false
}
