package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/uritemplate"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// tree is a file system whose files are resources.
type tree struct {
	prefix string
	files  fs.FS
	max    int64
}

// WithResourceTree serves the files of a file system as resources: the URI of each is the prefix, such as "docs://" or "file:///srv/data/",
// followed by the path, percent-encoded. files may be an embed.FS, or the FS() of an os.Root, which no path leads out of, whatever is
// changed in it meanwhile. The manifest needs the key resources; {} if there are no others.
//
// Symbolic links, and other files that are not regular, are neither listed nor read; nor is a file whose name, or that of a folder in its
// path, begins with a dot or is not UTF-8. A file is a text if it is UTF-8 without zero bytes, else a blob. Its MIME type follows from
// its extension. Files of any size are read; large ones by an Opener. Clients can subscribe to every file; Server.ResourceUpdated
// notifies them of changes.
func WithResourceTree(prefix string, files fs.FS) Option {
	return func(c *config) { c.trees = append(c.trees, &tree{prefix: prefix, files: files}) }
}

// WithMaxTreeFile sets how large a file of a resource tree may be that is read, in bytes; larger ones are listed. The default is any size.
func WithMaxTreeFile(bytes int64) Option { return func(c *config) { c.maxTreeFile = bytes } }

// openTrees checks the prefixes. Where one begins with another, the tree with the longer one serves the files under it.
func (s *Server) openTrees() error {
	all := s.cfg.trees
	if len(all) > 0 && !slices.ContainsFunc(s.revisions, func(rev *revision) bool { return rev.methodOf(wire.OpReadResource) != nil }) {
		return fmt.Errorf("server: a resource tree at %q, and no registry of resources: write resources: {} in the manifest", all[0].prefix)
	}
	for i, t := range all {
		t.max = s.cfg.maxTreeFile
		switch scheme, _, ok := strings.Cut(t.prefix, ":"); {
		case !ok || scheme == "" || !strings.HasSuffix(t.prefix, "/"):
			return fmt.Errorf("server: the prefix %q of a resource tree needs a scheme and a slash at its end, such as docs:// or file:///srv/", t.prefix)
		case t.files == nil:
			return fmt.Errorf("server: the resource tree %q has no files", t.prefix)
		case slices.ContainsFunc(all[:i], func(o *tree) bool { return o.prefix == t.prefix }):
			return fmt.Errorf("server: two resource trees have the prefix %q", t.prefix)
		}
	}
	slices.SortStableFunc(all, func(a, b *tree) int { return len(b.prefix) - len(a.prefix) })
	return nil
}

// nameOf returns the name of the file with a URI, if the tree serves it.
func (t *tree) nameOf(uri string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(uri, t.prefix)
	if !ok {
		return "", false
	}
	name, ok = uritemplate.DecodePath(rest)
	return name, ok && t.serves(name)
}

// serves reports whether there is a regular file of that name which is not hidden, with no symbolic link on the way to it.
func (t *tree) serves(name string) bool {
	if !fs.ValidPath(name) || name == "." || hidden(name) {
		return false
	}
	for i, c := range name {
		if c != '/' {
			continue
		}
		if dir, err := fs.Lstat(t.files, name[:i]); err != nil || !dir.IsDir() {
			return false
		}
	}
	file, err := fs.Lstat(t.files, name)
	return err == nil && file.Mode().IsRegular()
}

func hidden(name string) bool { return name[0] == '.' || strings.Contains(name, "/.") }

// smallFile is the size up to which a file is read at once, in bytes.
const smallFile = 64 << 10

func (t *tree) read(uri, name string) (*ResourceContents, error) {
	f, err := t.files.Open(name)
	if err != nil {
		return nil, &ResourceError{URI: uri}
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Size() > t.max:
		return nil, rpc.Errorf(rpc.CodeInternalError, "the resource %s is larger than the %d bytes that are sent", rpc.Quoted(uri), t.max)
	}
	var head bytes.Buffer
	look := textual{keep: &head}
	if _, err := io.Copy(&look, struct{ io.Reader }{f}); err != nil && err != errSeen {
		return nil, err
	}
	isText, small := look.isText(), look.size <= smallFile
	switch {
	case isText && small:
		return TextContents(head.String()).MIMEType(mimeOf(name, "text/plain")), nil
	case isText:
		return TextFrom(FileOf(t.files, name)).MIMEType(mimeOf(name, "text/plain")), nil
	case small:
		return BlobContents(head.Bytes()).MIMEType(mimeOf(name, "application/octet-stream")), nil
	}
	return BlobFrom(FileOf(t.files, name)).MIMEType(mimeOf(name, "application/octet-stream")), nil
}

// textual finds out whether what is written to it is a text: UTF-8 without zero bytes. It keeps the content of a small file.
type textual struct {
	keep   *bytes.Buffer
	size   int64
	rest   []byte // of a rune that is not complete
	binary bool   // it is no text
}

// Write implements io.Writer.
func (l *textual) Write(b []byte) (int, error) {
	if l.size += int64(len(b)); l.size <= smallFile {
		l.keep.Write(b)
	}
	if !l.binary {
		all := append(l.rest, b...)
		complete := completeRunes(all)
		l.binary = !utf8.Valid(all[:complete]) || bytes.IndexByte(all, 0) >= 0
		l.rest = append(l.rest[:0], all[complete:]...)
	}
	if l.binary && l.size > smallFile {
		return 0, errSeen
	}
	return len(b), nil
}

// errSeen ends the copying to a textual: the rest of the file does not matter.
var errSeen = errors.New("server: enough was seen")

func (l *textual) isText() bool { return !l.binary && len(l.rest) == 0 }

// mimeOf is the MIME type of a file by its extension; unknown if there is none. The common ones do not depend on the machine's tables.
func mimeOf(name, unknown string) string {
	extension := strings.ToLower(path.Ext(name))
	if known := mimeTypes[extension]; known != "" {
		return known
	}
	if media, _, err := mime.ParseMediaType(mime.TypeByExtension(extension)); err == nil {
		return media
	}
	return unknown
}

var mimeTypes = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".html": "text/html", ".css": "text/css",
	".js": "text/javascript", ".json": "application/json", ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
	".toml": "application/toml", ".go": "text/x-go", ".py": "text/x-python", ".sql": "application/sql", ".pdf": "application/pdf",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".svg": "image/svg+xml", ".webp": "image/webp",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4", ".zip": "application/zip", ".gz": "application/gzip",
}

// treeCursor begins cursors into trees: number of the tree, colon, path of the last file.
const (
	treeCursor = "trees"
	firstFile  = "0:"
)

// listTrees appends the page after a place, the content of a cursor into trees.
func (r *request) listTrees(b []byte, place string) ([]byte, error) {
	s, rev := r.p.s, r.revision
	number, after, _ := strings.Cut(place, ":")
	at, err := strconv.Atoi(number)
	if err != nil || at < 0 || at >= len(s.cfg.trees) {
		return nil, errCursor
	}
	items, n, more := []byte{'['}, 0, ""
	shown := r.shown(s.cfg.resourceFilter)
	for ; at < len(s.cfg.trees) && more == ""; at, after = at+1, "" {
		t := s.cfg.trees[at]
		last, full := "", false
		t.walk(after, func(name string, size int64) bool {
			if r.ctx.Err() != nil || n == s.cfg.pageSize {
				full = true
				return false
			}
			uri := t.prefix + uritemplate.EncodePath(name)
			if shown != nil && !shown(uri) {
				return true
			}
			item := wire.ListedResource{URI: uri, Name: name, MIMEType: mimeOf(name, ""), Size: float64(size)}
			items, last, n = rev.AppendResource(nextItem(items), &item), name, n+1
			return true
		})
		if full {
			if last == "" {
				last = after
			}
			more = cursorOf(treeCursor, strconv.Itoa(at)+":"+last)
		}
	}
	return rev.AppendResourceList(b, s.itemList(rev, append(items, ']'), more, shown != nil)), nil
}

// walk visits the files whose paths come after a path, in order, until visit returns false. Files that can not be read are left out.
func (t *tree) walk(after string, visit func(name string, size int64) bool) {
	_ = fs.WalkDir(t.files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == "." && err == nil:
			return nil
		case err != nil || hidden(name) || !utf8.ValidString(name) || d.IsDir() && beforeAll(name, after):
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || after != "" && comparePaths(name, after) <= 0:
			return nil
		}
		info, err := d.Info()
		if err == nil && !visit(name, info.Size()) {
			return fs.SkipAll
		}
		return nil
	})
}

// beforeAll reports whether all files of the folder come before the path.
func beforeAll(folder, path string) bool {
	return comparePaths(folder, path) < 0 && !strings.HasPrefix(path, folder+"/")
}

// comparePaths is the order of fs.WalkDir: folder by folder.
func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}
