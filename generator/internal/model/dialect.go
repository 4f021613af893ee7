package model

// Dialect is one protocol revision for clients: wire.Dialect with every name decided.
type Dialect struct {
	Revision           string // 2025-11-25
	Suffix             string // 20251125: the suffix of every identifier declared in the file
	File               string // dialect_2025_11_25.gen.go
	Handshake, Batches bool
	Calls              []Call
	Incoming           []Incoming
	TaskFlags          []string // fields of wire.TaskRules that are true
	HasTasks           bool
	Groups             []WireGroup
	Meta               string
	Messages           []DialectMessage
	Layouts            []*Layout // in the order in which they are declared
}

// Call is wire.Call.
type Call struct {
	Op, Name       string
	Flags          []string // names of the boolean fields that are true
	Needs, Header  string
	Params, Result *Layout
}

// Incoming is wire.Incoming.
type Incoming struct {
	Op, Name, Capability string
	Flags                []string
	Needs                []Need
	Task                 string
	Params               *Layout
}

// DialectMessage is a field of wire.Dialect whose type is a layout.
type DialectMessage struct {
	Field  string
	Layout *Layout
}

// Layout is wire.Layout. One that is inside another has no identifier.
type Layout struct {
	Ident   string // callTool20251125
	Members []LayoutMember
}

// LayoutMember is wire.Member, with its name.
type LayoutMember struct {
	Name     string
	Slot     string // SlotArguments
	Constant string // compact JSON
	Inside   *Layout
}
