package revision

import (
	_ "embed" // documents.bin
	"io/fs"
	"sync"

	"github.com/mcpkiln/mcpkiln/schema"
)

// packedFile holds what the files of the embedded revisions parse to. Parsing them took a third of the time of a command that generates a few
// tools. A test holds it against the files, and writes it with -update, as make golden does.
const packedFile = "documents.bin"

//go:embed documents.bin
var packedDocuments string

var packed = sync.OnceValue(func() *schema.Packed {
	p, err := schema.OpenPacked(packedDocuments)
	if err != nil {
		panic("schema/revision: " + packedFile + ": " + err.Error())
	}
	return p
})

// pack makes the content of packedFile from the embedded revisions.
func pack() ([]byte, schema.Diagnostics) {
	var roots []*schema.Node
	for _, name := range Names() {
		entries, _ := fs.ReadDir(schema.Revisions, name) // what is embedded can be read
		for _, e := range entries {
			file := name + "/" + e.Name()
			data, _ := fs.ReadFile(schema.Revisions, file)
			root, ds := schema.Parse(file, data)
			if len(ds) > 0 {
				return nil, ds
			}
			roots = append(roots, root)
		}
	}
	return schema.Pack(roots...), nil
}
