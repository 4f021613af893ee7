package model

// Package is one generated Go package, complete: emit transcribes it and decides nothing.
type Package struct {
	Name         string
	Manifest     string // file name, without directory
	Revisions    []string
	Server       Server
	Tools        []*Tool // in the manifest's order
	Methods      []*MethodHandler
	Sends        []*Send
	NoticesSent  []*Notice
	NoticesTaken []*NoticeHandler
	// Extensions are the names of the server's extensions of the protocol.
	Extensions []string
	// Prompts, Resources and Templates are the registries. Entries are the methods of Handlers for their entries, in the order of the interface.
	Prompts              []*Prompt
	Resources, Templates []*Resource
	Entries              []*EntryHandler
	Decls                []*Decl // types and validators, in the order of the files
	Views                []*Decl // encoders of one revision, for types that are declared in Decls
	Wires                []*Wire // in the order of Revisions
	// Result is the protocol's own tool result, for tools without an outputSchema; nil if every tool has one.
	Result *Result
	// AddedTasks is how tools that the program adds at run time run as tasks; nil: the manifest says nothing of them.
	AddedTasks *TaskPolicy
	// Needs says which parts of the runtime the package uses.
	Needs Needs

	// Path is the import path, empty where no code needs it. Dir is the directory below the output directory, empty for the package that is in that
	// directory itself.
	Path, Dir string
	// Parts hold the tools and types of a package with many tools, Shared the types that several parts use. The package
	// itself then has only aliases for them. Parts is nil for a package that is not divided.
	Parts  []*Package
	Shared *Package
	// Uses are the declarations of Shared that this package uses. Lends are, in Shared, its declarations that other packages use.
	Uses, Lends []Reference

	// Client is the package of a client; nil: there is none. Its Tools are those of this package, and its Decls are the types that it has
	// aliases of. If there is a client, the types of both packages are in Shared, and Parts is nil.
	Client *Package
	// Exported maps the unexported name of each function of Shared that other packages use to its exported name; nil if there is no client.
	Exported map[string]string
}

// Reference is a declaration that a package refers to, with the functions of it that the package uses.
type Reference struct {
	Decl *Decl
	Use  Use
}

// Server is the name and version that the generated server reports.
type Server struct {
	Name, Title, Version string
	Instructions         string
	Info                 string // the other members of what the protocol calls its Implementation, as a JSON object; empty for none
}

// Result is the protocol's own tool result.
type Result struct {
	TypeRef
	// Text is for the function TextResult: a result of one block of text.
	Text TextResult
}

// TextResult is how a result of one text is written in Go.
type TextResult struct {
	Content string // field of the result that holds the blocks
	Block   string // Go type of a block of text
	Text    string // its field
	Blocks  string // Go type of the elements of Content
}

// Needs says what a package takes from the runtime, so that nothing unused is generated.
type Needs struct {
	Tools     bool // there are tools
	Tasks     bool // a tool runs as a task, or one that the program adds may
	Questions bool // a handler asks the user
	Results   bool // a tool has no outputSchema: its result is the protocol's own
	Logging   bool // log records go to the client
	// Prompts and Resources are registries, whose arguments the runtime completes if Completions is set.
	Prompts, Resources, Completions bool
	// Which changes the server notifies clients of, beside those of the list of tools.
	PromptsChanged, ResourcesChanged, ResourceUpdated bool
}
