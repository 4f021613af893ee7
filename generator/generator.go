package generator

import (
	"errors"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// Source is one document as bytes. Path is what diagnostics call it; nothing is read from that path.
type Source struct {
	Path string
	Data []byte
}

// ReadManifest reads the file at path; one that can not be read is a diagnostic.
func ReadManifest(path string) (Source, schema.Diagnostics) {
	data, ds := manifest.Read(path)
	return Source{Path: path, Data: data}, ds
}

// Folder is a folder with a protocol revision that the user wrote.
type Folder struct {
	Path  string            // as the manifest writes it
	Files map[string][]byte // rules.yaml and documents, by name
}

// Read reads the manifest at path, and the files and folders that it names. Generate reports a schema file that could not be read; Read
// reports everything else.
func (c *Config) Read(path string) (ds schema.Diagnostics) {
	if c.Manifest, ds = ReadManifest(path); ds.HasErrors() {
		return ds
	}
	c.document = manifest.Parse(path, c.Manifest.Data)
	c.Files = c.document.ReadFiles()
	return c.readFolders(func(name string) ([]fs.DirEntry, readFile, error) {
		dir := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		entries, err := os.ReadDir(dir)
		return entries, func(file string) ([]byte, error) { return readRegular(filepath.Join(dir, file)) }, err
	})
}

// Take returns a copy of c and removes the parsed manifest from c itself, so that Generate of the copy can release the manifest's memory.
func (c *Config) Take() Config {
	taken := *c
	c.document = nil
	return taken
}

// ReadFrom is Read for a manifest that is not on disk: data is its text, path what diagnostics call it, and folder the directory that it is in.
func (c *Config) ReadFrom(folder fs.FS, path string, data []byte) (ds schema.Diagnostics) {
	c.Manifest = Source{path, data}
	c.document = manifest.Parse(path, data)
	c.Files, c.Folders = c.document.ReadFilesFrom(folder), nil
	return c.readFolders(func(name string) ([]fs.DirEntry, readFile, error) {
		name = slashpath.Clean(name)
		entries, err := fs.ReadDir(folder, name)
		return entries, func(file string) ([]byte, error) { return fs.ReadFile(folder, slashpath.Join(name, file)) }, err
	})
}

// readFile reads a file of a folder. It returns no data for what is not a regular file.
type readFile func(name string) ([]byte, error)

// readFolders reads the folders of revisions that the manifest names.
func (c *Config) readFolders(open func(name string) ([]fs.DirEntry, readFile, error)) (ds schema.Diagnostics) {
	for _, f := range c.document.Folders() {
		entries, read, err := open(f.Value)
		var files map[string][]byte
		if err == nil {
			files, err = readFolder(entries, read)
		}
		if err != nil {
			if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
				err = pathErr.Err
			}
			ds.Report(f.Node, "missing-folder", "mcpkiln schema new-revision makes one", "can not read the folder: %s", err)
			continue
		}
		c.Folders = append(c.Folders, Folder{f.Value, files})
	}
	return ds
}

// readFolder reads the JSON and YAML files of a revision's folder.
func readFolder(entries []fs.DirEntry, read readFile) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".json" && ext != ".yaml" {
			continue
		}
		data, err := read(e.Name())
		if err != nil {
			return nil, err
		}
		if data != nil {
			files[e.Name()] = data
		}
	}
	return files, nil
}

// readRegular reads a file if it is regular: reading a pipe would block.
func readRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	return os.ReadFile(path)
}

// folderFiles are the files of a Folder, for package revision.
type folderFiles map[string][]byte

// ReadFile implements fs.ReadFileFS.
func (f folderFiles) ReadFile(name string) ([]byte, error) {
	if data, ok := f[name]; ok {
		return data, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Open implements fs.FS.
func (f folderFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// Config is the whole input of Generate. The zero value of an override keeps what the manifest says.
type Config struct {
	// Manifest is mcpkiln.yaml, the same as JSON, or a saved tools/list answer: the response, its result, or the list alone.
	Manifest Source
	// Schema replaces the embedded core document by the official schema.json as published, if Data is set.
	Schema Source
	// Folders are the revisions of the manifest's own; see Read.
	Folders []Folder
	// Files are the schema files that the manifest refers to, directly or through others; see Read.
	Files []schema.File
	// ToolVersion is the version of mcpkiln. It goes into the lock file and nowhere else.
	ToolVersion string
	// Flags are the flags that set overrides, with their values, for the lock file; "out", "client" or "docs" among them makes the output a copy.
	Flags map[string]string

	// Dir is the manifest's directory in its module, slash separated, empty for the module's root. doc.gen.go names the manifest by this path.
	Dir string

	// Import is the import path of the manifest's directory. Without it a package is never divided, however many tools it has.
	Import string
	// MaxTools is the largest number of tools that one package holds; more are divided over packages below it. 0 is 200.
	MaxTools int

	Package       string   // Go package name
	Out           string   // output directory, slash separated, relative to the manifest's
	Client        string   // output directory of a client, likewise
	Docs          string   // output directory of the reference, likewise; if set, nothing else is generated
	Revisions     []string // protocol revisions
	ServerName    string
	ServerVersion string

	document *manifest.Document // Manifest as Read has parsed it, or nil
}

// File is one generated file. Path is relative to the output directory, slash separated.
type File struct {
	Path    string
	Content []byte
}

// Result is what Generate made. If Diagnostics has an error there are no Files.
type Result struct {
	Files       []File // sorted by path, the lock file included
	Diagnostics schema.Diagnostics

	Out     string          // output directory, relative to the manifest's
	OutPos  schema.Position // where the manifest says so
	Package string          // Go package name
	Source  string          // path of the manifest, from the module's root
	Digest  string          // of all input (digest.go)
	Tools   []Tool          // in the manifest's order
	Methods []Tool          // methods of Handlers beside those of tools: of requests, of notifications, then of prompts and resources

	// Client is the client package, if there is a server package beside it; nil if only one package is generated.
	Client *Output

	flags map[string]string // of the configuration
	pkg   *model.Package
	tools func() []manifest.Tool // parses the manifest again; nil if no package was generated
}

// HasHandlers reports whether the package has Handlers with methods: a client alone has none.
func (r *Result) HasHandlers() bool { return len(r.Tools)+len(r.Methods) > 0 }

// Output is one output directory with its files: a generated package, or the reference.
type Output struct {
	Dir   string          // relative to the manifest's directory, slash separated
	Pos   schema.Position // where the manifest says so
	Files []File          // sorted by path, the lock file included
}

// outputs are all output directories of a manifest.
func (r *Result) outputs() []Output {
	all := []Output{{r.Out, r.OutPos, r.Files}}
	if r.Client != nil {
		all = append(all, *r.Client)
	}
	return all
}

// Tool names one method of the generated Handlers, of a tool or of another request or notification, for those who write code beside
// the package.
type Tool struct {
	Name   string // get_quote, prompts/get, prompt review_code
	Method string // GetQuote
	Input  string // GetQuoteInput, or server.CompletionRequest; empty: none
	Output string // GetQuoteOutput, CallToolResult, or server.PromptResult; empty: nothing but an error
	Call   string // type of the second parameter: ImportOrdersCall for a tool with questions, server.Notice for a notification; empty: server.Call
	File   string // get_quote_handler.go: name of a stub's file, different for each tool on every file system

	AlwaysTask  bool // a tool that never runs inline
	Cancellable bool // a tool whose calls can be cancelled
}
