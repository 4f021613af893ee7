package model

// Wire is one protocol revision for the runtime: wire.Revision with every name decided.
type Wire struct {
	Revision     string // 2025-11-25
	Suffix       string // 20251125: the suffix of every identifier declared in the file
	File         string // wire_2025_11_25.gen.go
	Handshake    bool
	Batches      bool
	Methods      []*Method // what the client sends, sorted by name
	Outgoing     []Outgoing
	Task         *TaskRules // nil: no tool runs as a task
	Capabilities []Capability
	Extensions   []string // where the server's extensions are declared
	Groups       []WireGroup
	// ToolExecution is the member of an advertised tool about running as a task; empty if there is none.
	ToolExecution string
	Messages      []*Message       // in the order of the fields of wire.Revision
	Functions     []*Message       // the messages whose functions this wire declares: a function that several wires share is declared by the first
	Own           string           // own20260728: the variable with the names of members that only the runtime writes
	OwnNames      *WireGroup       // the value of that variable, in the wire that declares it; nil: another wire does
	Definitions   []WireDefinition // of results, without those that are the same in the newest wire
	Inherits      string           // the suffix of the newest wire, which has the definitions that are the same there; empty if there are none
	TaskCreated   string           // the definition of a result that is a task; empty where no request is answered with one
	CheckResult   *Decl            // validates results of tools without an outputSchema; nil if there are none
	AppendResult  string           // the function that writes these results; empty if there are none
}

// Method is wire.Method. Read is nil when the runtime needs none of the params.
type Method struct {
	Name          string
	Op            string // OpCallTool
	Notification  bool
	Uncancellable bool
	Task          bool
	Cacheable     bool
	NoInput       bool
	Declares      string
	EmptyList     string
	Header        string
	Blocks        string
	Result        string // the definition of its result; empty for a notification, and for a method that no revision defines
	Read          *Message
}

// WireDefinition is wire.Definition.
type WireDefinition struct{ Name, Schema string }

// WireGroup is a field of wire.Revision whose type is a struct.
type WireGroup struct {
	Field, Type string
	Values      []WireValue
}

// WireValue is a field of that struct: a text, a number, a list of texts, a struct (Group), or true (On).
type WireValue struct {
	Field  string
	Text   string
	Number int
	Group  *WireGroup
	On     bool
	List   []string
}

// Outgoing is wire.Outgoing.
type Outgoing struct {
	Op, Name   string
	Capability string // only of questions
	Needs      []Need
}

// Need is wire.Need.
type Need struct {
	Capability, Member string
	Values             []string
	Default            bool
}

// TaskRules is wire.TaskRules. Flags are the Go names of those that are true.
type TaskRules struct {
	Edges []TaskEdges
	Flags []string
}

// TaskEdges is wire.Edges; statuses are Go names of package task.
type TaskEdges struct {
	From string
	To   []string
}

// Capability is one path of wire.Capabilities.
type Capability struct{ Field, Path string }

// Message is one function of the wire: it reads or appends one struct of the runtime.
type Message struct {
	Func   string // readCallTool20251125
	Field  string // of wire.Revision; empty for readers of params
	Append bool
	Struct string // CallResult, of package runtime/wire
	Var    string // r: the parameter
	Root   *WireObject
}

// WireObject is one level of a message.
type WireObject struct {
	Ident   string // callTool20251125Meta: read only, the name of its rule
	Members []*WireMember
	Splice  string // append only: the field of the struct with members as JSON, which are written after those of this object

	// Read only: the object is one of Forms, told apart by the value of the member Key, a string. Then it has no Members of its own.
	Key   string
	Forms []*WireForm
}

// WireForm is one of the objects that a member of params can be.
type WireForm struct {
	Tag    string // the value of the member WireObject.Key
	Object *WireObject
}

// WireMember is one member of an object: a Slot or an Object; for append also a Literal, or the function (Call) that writes the member from the
// same struct.
type WireMember struct {
	Name     string // as in JSON
	Quoted   string // Name as a JSON string
	Required bool
	Slot     *WireSlot
	Object   *WireObject
	Shape    *WireShape // read only: what the value of Slot is validated against; nil: only its kind
	Literal  string     // compact JSON
	Call     string     // appendTask20251125
}

// WireShape is wire.Shape. Kind is the name of a constant of package check; empty allows any value.
type WireShape struct {
	Ident   string // of the shape of a member: initialize20251125ClientInfo
	Kind    string
	Null    bool
	Enum    []string
	Members []WireProperty // sorted by name
	Others  *WireShape
	Items   *WireShape
}

// WireProperty is a member that a WireShape names.
type WireProperty struct {
	Name     string
	Required bool
	Shape    WireShape
}

// WireSlot is a field of the runtime's struct.
type WireSlot struct {
	Field string // ProgressToken
	Kind  SlotKind
}

// SlotKind is how a slot is read and written.
type SlotKind uint8

// The kinds of slots. MillisSlot and TimeSlot are append only.
const (
	StringSlot SlotKind = iota
	IntSlot
	FloatSlot
	BoolSlot
	RawSlot
	IDSlot
	MillisSlot
	TimeSlot
	StringsSlot
)

// Walk calls f with o and every object below it.
func (o *WireObject) Walk(f func(*WireObject)) {
	f(o)
	for _, m := range o.Members {
		if m.Object != nil {
			m.Object.Walk(f)
		}
	}
	for _, form := range o.Forms {
		form.Object.Walk(f)
	}
}
