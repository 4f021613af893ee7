package schema

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
)

// File is a file of schemas. Err says why it could not be read.
type File struct {
	Path string // below the manifest's folder, slash separated
	Data []byte
	Err  error
}

var fileExtensions = []string{".json", ".yaml", ".yml"}

// FilePath returns the path of the file that a reference leads to; "" if that may not be read, because it is not below the manifest's folder. from is
// the file that the reference is in ("" for the manifest). Both paths are relative to the manifest's folder.
func FilePath(ref, from string) string {
	p, _ := filePath(ref, from)
	return p
}

func filePath(ref, from string) (string, refusal) {
	uri, _, _ := strings.Cut(ref, "#")
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme != "" || u.Host != "" || u.RawQuery != "":
		return "", remoteRef
	case u.Path == "":
		return "", refusal{"missing-file", "write schemas/order.json#/$defs/Order", "names no file"}
	}
	p := path.Join(path.Dir(from), u.Path)
	switch {
	case path.IsAbs(u.Path) || p == ".." || strings.HasPrefix(p, "../"):
		return "", outsideFolder
	case !slices.Contains(fileExtensions, path.Ext(p)):
		return "", refusal{remoteRef.code, "write #/schemas/NAME for a schema of the manifest; the name of a file ends in .json, .yaml or .yml", "leads to no JSON or YAML file"}
	}
	return p, refusal{}
}

var outsideFolder = refusal{"outside-folder", "move the file below that folder: no other is read", "leads out of the manifest's folder"}

// unreadable is the reason why a file was not read.
func unreadable(f *linkedFile) refusal {
	switch {
	case f == nil:
		return refusal{"missing-file", "", "leads to a file that was not read"}
	case errors.Is(f.err, fs.ErrNotExist) && strings.Contains(f.path, `\`):
		return refusal{"missing-file", "write / between folders", "leads to a file that is not there"}
	case errors.Is(f.err, fs.ErrNotExist):
		return refusal{"missing-file", "paths begin at the folder of the file that they stand in", "leads to a file that is not there"}
	case strings.Contains(f.err.Error(), "escapes"): // a link, which os.Root has no error value for
		return outsideFolder
	}
	err := f.err
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return refusal{"unreadable-file", "", "leads to a file that can not be read: " + err.Error()}
}
