package wire

// Dialect describes one protocol revision for a client, as Revision does for a server. It is data alone, which generated code supplies, and
// read-only. What a revision does not have is zero.
type Dialect struct {
	// Version is the protocol version as it is negotiated, such as "2025-11-25".
	Version string
	// Handshake says that the revision begins with initialize, see Revision.
	Handshake bool
	// Batches: the server may send an array of messages (CAN24).
	Batches bool
	// Calls are the requests and notifications that the client may send, sorted by operation.
	Calls []Call
	// Incoming are the requests, input requests and notifications that the server may send, sorted by name.
	Incoming []Incoming
	// Task has the flags of the revision's task state machine. Its Edges are empty: only a server enforces transitions.
	Task TaskRules
	// HasTasks says that the revision has tasks, so that Task applies.
	HasTasks bool
	// Offers has the paths of the server's capabilities, Declares those of the client's.
	Offers   Offers
	Declares Declares
	Codes    Codes
	Result   ResultRules
	HTTP     HTTP
	// Meta is the name of the params' member _meta, to which anybody may add members.
	Meta string

	// Messages that belong to no single method; nil: the revision has none.
	InputRequired      *Layout // a result that asks for input
	TaskCreated        *Layout // a result that is a task
	TaskParams         *Layout // the value of the params' member that asks for a task
	ElicitResult       *Layout
	ElicitURL          *Layout // params of a question that is answered on a web page
	UnsupportedVersion *Layout // data of the error
	MissingCapability  *Layout // data of the error
}

// Call is one request or notification that the client may send.
type Call struct {
	Op   Op
	Name string
	// Notification is true for messages without an answer.
	Notification bool
	// Uncancellable requests are never cancelled (CAN07).
	Uncancellable bool
	// Task says that the request may become a task.
	Task bool
	// Cacheable says that results have members for how long they may be cached.
	Cacheable bool
	// Input says that the answer may be a result that asks for input.
	Input bool
	// Needs is the path of the server's capability that the request needs; "" for none.
	Needs string
	// Header is the slot of the params that HTTP.NameHeader repeats.
	Header Slot
	// Params and Result are the layouts of both; nil: they have no values that the client uses.
	Params, Result *Layout
}

// Incoming is one message that the server may send.
type Incoming struct {
	Op   Op
	Name string
	// Notification is true for messages without an answer.
	Notification bool
	// Input says that the question is part of a result or a task, never a request.
	Input bool
	// Capability is the path of the capability that a client declares to be asked the question; "" for messages that are not questions.
	Capability string
	// Needs are the parts of the capability that some params need.
	Needs []Need
	// Task is the path of the capability that a client declares to be asked in a request that becomes a task; "": it can not be asked so.
	Task string
	// Params is the layout of the params; nil: they have no values that the client uses.
	Params *Layout
}

// Offers has the paths at which a server declares its capabilities, written as in Capabilities; "" where the revision has none.
type Offers struct {
	Completions, Logging                  string
	Prompts, PromptsListChanged           string
	Resources, ResourcesListChanged       string
	ResourcesSubscribe                    string
	TaskCall, TaskCancel, TaskList, Tasks string
	Tools, ToolsListChanged               string
}

// Declares has the paths at which a client declares its capabilities, see Offers.
type Declares struct {
	Elicitation, ElicitationForm, ElicitationURL               string
	Roots, RootsListChanged                                    string
	Sampling, SamplingContext, SamplingTools                   string
	TaskCancel, TaskCreateMessage, TaskElicit, TaskList, Tasks string
}

// Call returns the request or notification of an operation; nil if the revision has none.
func (d *Dialect) Call(op Op) *Call {
	for i := range d.Calls {
		if d.Calls[i].Op == op {
			return &d.Calls[i]
		}
	}
	return nil
}

// IncomingOf returns the message with that name that the server may send; nil if there is none.
func (d *Dialect) IncomingOf(name string) *Incoming {
	lo, hi := 0, len(d.Incoming)
	for lo < hi {
		mid := (lo + hi) / 2
		switch at := d.Incoming[mid].Name; {
		case at == name:
			return &d.Incoming[mid]
		case at < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return nil
}
