package rpc

// Kind says which kind of message a frame is.
type Kind uint8

// The kinds. KindInvalid is a frame of no known kind.
const (
	KindInvalid Kind = iota
	KindRequest
	KindNotification
	KindResult
	KindError
)

// Message is the members of one frame. Its slices alias the frame, except a Method that was written with escapes.
type Message struct {
	Kind   Kind
	ID     ID     // zero: a notification, or an error whose request could not be read
	Method []byte // of a request or notification; look it up with m[string(msg.Method)], which does not allocate
	Params []byte // one JSON object, nil when absent
	Result []byte // one JSON value
	Error  *Error // its Data aliases the frame, its Message does not

	// Repeated: the arguments of a tools/call have a repeated key, which the tool's decoder has to report.
	Repeated bool
	// Unclear: the frame has an id, and may be a request or an answer: it has neither method nor result nor error, or a method and one
	// of the other two.
	Unclear bool
}

// Answers reports whether a frame is, or may be, an answer, also if Parse refused it: it still ends the request with its ID,
// if it has one (CAN30).
func (m *Message) Answers() bool { return m.Kind == KindResult || m.Kind == KindError || m.Unclear }

// WantsReply reports whether a frame that Parse refused must be answered with Parse's error: requests, and frames of no kind.
// A bad notification is ignored (CAN04), and an answer to a bad answer could go on for ever.
func (m *Message) WantsReply() bool { return m.Kind == KindRequest || m.Kind == KindInvalid }
