package revision

import "github.com/mcpkiln/mcpkiln/schema"

// Revision is one protocol revision: its documents and its rules, checked against each other. Every list is sorted by
// name (statuses and edges keep the schema's order), so the order of a rules file has no meaning. Read-only after Load: those
// of an embedded revision share their lists, and only those of files know the positions of single rules.
type Revision struct {
	Name       string
	Pos        schema.Position `json:"-"`
	Era        Era
	Documents  []Document
	Batches    bool // several messages may come in one array, and are answered in one
	Methods    []Method
	Removed    []Removed
	Task       *Task // nil: this revision has no tasks
	Errors     []ErrorCode
	Server     Message // capability slots of ServerCapabilities
	Client     Message // capability slots of ClientCapabilities
	Meta       []MetaKey
	ResultType *ResultType // nil: results have no type
	Extensions []Extension
	HTTP       HTTP
	Messages   []Message
	// MessageDefinitions are the definitions of the params and results of Methods, and those that are branches of them, such as the two kinds of
	// elicitation.
	MessageDefinitions []string

	aliases []alias // applied to Documents, as are pages and errata
	pages   []page  // keywords that are added
	errata  []page  // keywords that are replaced
}

// page is what the pages of the specification say of a definition, and the documents do not: keywords for its schema.
type page struct {
	definition string // definition reference
	pos        schema.Position
	keywords   []schema.Member
}

// Era is how a peer learns the version and the capabilities of the other one.
type Era string

const (
	Handshake Era = "handshake" // once, by initialize
	Stateless Era = "stateless" // with every request, in _meta
)

// Document is one schema document of a revision.
type Document struct {
	Name             string
	*schema.Document `json:"-"`
}

// Side is the side that sends a method.
type Side string

const (
	FromClient Side = "client"
	FromServer Side = "server"
	FromBoth   Side = "both"
)

// Includes reports whether side other is among s.
func (s Side) Includes(other Side) bool { return s == other || s == FromBoth }

// Kind is the kind of message of a method.
type Kind string

const (
	Request      Kind = "request"
	Notification Kind = "notification"
	Input        Kind = "input" // a question inside of a result; it has no id of its own
)

// Method is one request, notification or question of the protocol.
type Method struct {
	Name string
	Pos  schema.Position `json:"-"`
	From Side
	Kind Kind
	// Op is what the method means to the runtime; "" for a request: a handler of the user serves it, if the manifest lists it in methods.
	Op string
	// Message is the definition of the whole message.
	Message string
	// Params is the definition of its params, as a definition reference ("CallToolRequestParams", or
	// "GetTaskRequest/params" where the schema gives it no name); "" when it has none. Derived from Message.
	Params         string
	ParamsRequired bool
	// Result is the definition of the result; "" for notifications.
	Result      string
	Cancellable bool // only requests
	// Task is the capability slot that allows the requestor to ask that this request runs as a task; "": it may not.
	Task string
	// Capability is the slot that has to be declared: by the receiver of a request, by the sender of a notification.
	Capability string
	// Deprecated says what to use instead of the method's feature; "" if the revision does not deprecate it.
	Deprecated string
	// EmptyList is the member of the result that is an empty list if the server has the capability but no handler for this method; "": then the
	// method is not found.
	EmptyList string
	// Needs are further capability slots that its receiver has to declare, depending on the params.
	Needs []Need
}

// Need is a part of a method's capability that some of its params need.
type Need struct {
	Pos        schema.Position `json:"-"`
	Member     string          // of the params
	Values     []string        // values of the member that need it; none: every value does
	Capability string          // "": no capability of this revision is enough for such params, so they are never sent
	// Default says that params without the member need it, too, and that a client has it if it declares the method's capability without
	// the part for another value of the member.
	Default bool
}

// Removed is a method of earlier revisions that this one refuses.
type Removed struct {
	Name    string
	Pos     schema.Position `json:"-"`
	Instead string          // one line for the diagnostic that names it
}

// Task is the task state machine of a revision, and how its methods behave.
type Task struct {
	Pos            schema.Position `json:"-"`
	Definition     string          // of the status
	Statuses       []string
	Initial        string
	Terminal       []string
	Edges          []Edge
	Create         string // CreateByRequestor | CreateByReceiver
	IsError        string // IsErrorFails | IsErrorCompletes
	Cancel         string // CancelForces | CancelAsks
	CancelTerminal string // TerminalRefused | TerminalAcknowledged
	Result         string // ResultBlocks | ResultInline
	Questions      string // QuestionsOnSession | QuestionsInline
	Progress       string // ProgressLifetime | ProgressNone
}

// Values of the fields of Task.
const (
	CreateByRequestor    = "requestor"
	CreateByReceiver     = "receiver"
	IsErrorFails         = "failed"
	IsErrorCompletes     = "completed"
	CancelForces         = "forces"
	CancelAsks           = "asks"
	TerminalRefused      = "refused"
	TerminalAcknowledged = "acknowledged"
	ResultBlocks         = "blocks"
	ResultInline         = "inline"
	QuestionsOnSession   = "session"
	QuestionsInline      = "inline"
	ProgressLifetime     = "lifetime"
	ProgressNone         = "none"
)

// Edge lists the statuses that may follow From, in the order of Task.Statuses.
type Edge struct {
	Pos  schema.Position `json:"-"`
	From string
	To   []string
}

// ErrorCode is a JSON-RPC error code with the name of the error.
type ErrorCode struct {
	Name string
	Pos  schema.Position `json:"-"`
	Code int
}

// MetaKey is a key of _meta.
type MetaKey struct {
	Name       string
	Pos        schema.Position `json:"-"`
	Key        string
	Definition string // of its value; "" = a plain value
	Required   bool   // a request without it is refused
}

// ResultType is the member of results that says which kind of result it is, and its values.
type ResultType struct {
	Key           string // member of every result
	Complete      string
	InputRequired string
	Task          string
}

// Extension is an optional part of a revision with an id under capabilities.extensions and a document of its own.
type Extension struct {
	Name     string
	Pos      schema.Position `json:"-"`
	ID       string
	Document string
}

// HTTP is what a revision says about Streamable HTTP. An empty string means that the revision does not have it.
type HTTP struct {
	Headers []Header // by role: protocolVersion, session, lastEvent, method, name, paramPrefix
	Names   []Header // by method: the path in its params of the value that the name header repeats
	// EncodedPrefix and EncodedSuffix enclose the base64 of header values that are not plain ASCII.
	EncodedPrefix, EncodedSuffix string
	Statuses                     []Status
	Primed                       bool   // the stream of a request begins with an event that has an id and no data
	Disconnect                   string // DisconnectContinues | DisconnectCancels
}

// Values of HTTP.Disconnect: what happens to a request when the client closes the stream of its response (CAN18).
const (
	DisconnectContinues = "continues"
	DisconnectCancels   = "cancels"
)

// Header is the name of an HTTP header by its role, or a path in the params by method.
type Header struct {
	Name, Value string
	Pos         schema.Position `json:"-"`
}

// Status is the HTTP status of a named error.
type Status struct {
	Pos   schema.Position `json:"-"`
	Error string
	Code  int
}

// Message maps slots of the runtime to places in a definition, which differ between revisions.
type Message struct {
	Name       string
	Pos        schema.Position `json:"-"`
	Definition string          // definition reference, see Method.Params
	// Include is another message whose slots this one has, too; after Load they are in Slots.
	Include string
	// Extended adds the members of a definition at a path, where an extension adds members to the core document's.
	Extended  []Extended
	Slots     []Slot
	Constants []Constant
}

// Extended is a definition whose members are also allowed at Path.
type Extended struct {
	Path       []string
	Pos        schema.Position `json:"-"`
	Definition string
}

// Slot is a value that the runtime reads or writes, and its place in the definition.
type Slot struct {
	Name string
	Pos  schema.Position `json:"-"`
	Kind SlotKind
	// Path is the steps from the definition's value, `$name` replaced by the key. It is empty where the members of the
	// slot's own message (a task) are members of this one.
	Path []string
	// Always is how many steps of Path, from the first one, every valid message has.
	Always int
}

// Constant is a member that is always written with the same value.
type Constant struct {
	Path  []string
	Pos   schema.Position `json:"-"`
	Value string
}

// Method returns the method of that name as sent by side, or nil.
func (r *Revision) Method(name string, side Side) *Method {
	for i := range r.Methods {
		if m := &r.Methods[i]; m.Name == name && m.From.Includes(side) {
			return m
		}
	}
	return nil
}

// Op returns the method with that op as sent by side, or nil.
func (r *Revision) Op(op string, side Side) *Method {
	for i := range r.Methods {
		if m := &r.Methods[i]; m.Op == op && m.From.Includes(side) {
			return m
		}
	}
	return nil
}

// ErrorCode returns the JSON-RPC code of a named error; ok is false if this revision has none for it.
func (r *Revision) ErrorCode(name string) (code int, ok bool) {
	for _, e := range r.Errors {
		if e.Name == name {
			return e.Code, true
		}
	}
	return 0, false
}

// MetaKey returns the key of _meta with that name, or nil.
func (r *Revision) MetaKey(name string) *MetaKey {
	for i := range r.Meta {
		if r.Meta[i].Name == name {
			return &r.Meta[i]
		}
	}
	return nil
}
