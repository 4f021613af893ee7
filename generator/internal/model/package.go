package model

// Package is one generated Go package, complete: emit transcribes it and decides nothing.
type Package struct {
	Name      string
	Manifest  string // file name, without directory
	Revisions []string
	Server    Server
	Tools     []*Tool // in the manifest's order
	Methods   []*MethodHandler
	Sends     []*Send
	Decls     []*Decl // types and validators, in the order of the files
	Views     []*Decl // encoders of one revision, for types that are declared in Decls
	Wires     []*Wire // in the order of Revisions
	// Result is the protocol's own tool result, for tools without an outputSchema; nil if every tool has one.
	Result *Result
	// Needs says which runtime parts the tools use.
	Needs Needs

	// Path is the import path, and Dir where the package is below the output directory; both are empty for one that has no
	// parts and is none.
	Path, Dir string
	// Parts hold the tools and types of a package with many tools, Shared the types that several parts use. The package
	// itself then has neither code nor types of tools, but other names for them. nil for other packages.
	Parts  []*Package
	Shared *Package
	// Uses is what a part, or the package itself, uses of Shared, and Lends what Shared lets others use.
	Uses, Lends []Loan
}

// Loan is a declaration of the shared package, with what others use of it.
type Loan struct {
	Decl *Decl
	Use  Use
}

// Server is what the generated server calls itself.
type Server struct {
	Name, Title, Version string
	Instructions         string
	Info                 string // a JSON object with what else it says of itself; empty for nothing
}

// Result is the protocol's own tool result.
type Result struct {
	TypeRef
	// Text is the type and the fields that TextResult fills: a result of one block of text.
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
	Tasks     bool // a tool runs as a task
	Questions bool // a tool asks the user
	Results   bool // a tool has no outputSchema: it answers with the protocol's own result
	Logging   bool // log records go to the client
	// Changes that clients are told of, beside those of tools.
	PromptsChanged, ResourcesChanged, ResourceUpdated bool
}
