package wire

// Dialect is one protocol revision as a client speaks it, as Revision is for a server: data alone, which generated code supplies. It is
// read-only. What a revision has not is zero.
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
	// Task are the flags of the revision's task state machine, without its edges: those are the server's to keep.
	Task TaskRules
	// HasTasks: Task means something.
	HasTasks bool
	// Offers are the places of the server's capabilities, Declares of the client's.
	Offers   Offers
	Declares Declares
	Codes    Codes
	Result   ResultRules
	HTTP     HTTP
	// Meta is the member of params that anybody may add to.
	Meta string

	// Messages that belong to no single method; nil: the revision has none.
	InputRequired      *Layout // a result that asks
	TaskCreated        *Layout // a result that is a task
	TaskParams         *Layout // what asks for a task
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
	// Cacheable results say how long they may be kept.
	Cacheable bool
	// Input says that the answer may ask for input.
	Input bool
	// Needs is the server's capability that the request needs, as a path; "" for none.
	Needs string
	// Header is the slot of the params that the name header of Streamable HTTP repeats.
	Header Slot
	// Params and Result say where their values stand; nil: they have none that matter.
	Params, Result *Layout
}

// Incoming is one message that the server may send.
type Incoming struct {
	Op   Op
	Name string
	// Notification is true for messages without an answer.
	Notification bool
	// Input: the question travels inside a result or a task, never as a request.
	Input bool
	// Capability is what the client declares to be asked, as a path; "" for messages that are not questions.
	Capability string
	// Needs are parts of it that some params take.
	Needs []Need
	// Task is what the client declares to be asked in the form of a task; "": it can not be.
	Task string
	// Params says where their values stand; nil: none that matter.
	Params *Layout
}

// Offers are places where a server declares what it can, as paths like those of Capabilities; "" where the revision has none.
type Offers struct {
	Completions, Logging                  string
	Prompts, PromptsListChanged           string
	Resources, ResourcesListChanged       string
	ResourcesSubscribe                    string
	TaskCall, TaskCancel, TaskList, Tasks string
	Tools, ToolsListChanged               string
}

// Declares are places where a client declares what it can, see Offers.
type Declares struct {
	Elicitation, ElicitationForm, ElicitationURL               string
	Roots, RootsListChanged                                    string
	Sampling, SamplingContext, SamplingTools                   string
	TaskCancel, TaskCreateMessage, TaskElicit, TaskList, Tasks string
}

// Call returns the request or notification of an operation, nil: the revision has none.
func (d *Dialect) Call(op Op) *Call {
	for i := range d.Calls {
		if d.Calls[i].Op == op {
			return &d.Calls[i]
		}
	}
	return nil
}

// IncomingOf returns what the server may send by that name, nil: nothing.
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
