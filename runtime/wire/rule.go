package wire

import (
	"strconv"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Rule says how an object in a message of one revision is read: the names of its members, and in the same order how each is read.
// Members that it does not name are skipped.
type Rule struct {
	Names    []string
	Required []string // some of Names
	Reads    Reads

	object object
}

// Reads says how each member is read.
type Reads []Reader

// Reader reads a member: a Slot, a *Shaped slot, an object with members of its own (*Rule), or one of several objects (*Forms).
// A value that the member can not have is a violation (LET05).
type Reader interface {
	read(d *check.Decoder, m message)
}

// Forms reads a member that is one of several objects (forms), told apart by a string in one of their members. Union has the forms, and Reads, in
// the same order, how each is read.
type Forms struct {
	Union check.Union
	Reads []*Rule
}

// Shaped reads a slot whose value is validated by a Shape.
type Shaped struct {
	Slot  Slot
	Shape Shape
}

// message is a struct that a Rule fills with the values of a message: it knows which of its fields is for a slot. s validates the value; nil: only the
// type of the field does.
type message interface {
	readSlot(d *check.Decoder, slot Slot, s *Shape)
}

// Read fills m, a *Params, *CallResult or *ElicitResult, with the values of the next object. A value that is no object is a violation, and so is
// an object without a required member.
func (r *Rule) Read(d *check.Decoder, m message) {
	for f := d.Object(r.object.of(r.Names, r.Required)); f >= 0; f = d.Next() {
		if f == check.Other {
			d.Skip()
		} else if slot, ok := r.Reads[f].(Slot); ok { // a shortcut, since most are slots
			m.readSlot(d, slot, nil)
		} else {
			r.Reads[f].read(d, m)
		}
	}
}

// object is the check.Object of a Rule or Shape, which is made on first use.
type object struct{ made atomic.Pointer[check.Object] }

func (o *object) of(names, required []string) *check.Object {
	if made := o.made.Load(); made != nil {
		return made
	}
	made := &check.Object{Names: names, Required: required}
	o.made.Store(made) // two goroutines may make one at once: both are equal
	return made
}

func (r *Rule) read(d *check.Decoder, m message) { r.Read(d, m) }

func (f *Forms) read(d *check.Decoder, m message) {
	check.Pick(d, &f.Union, func(d *check.Decoder, form int) (none struct{}) {
		f.Reads[form].Read(d, m)
		return none
	})
}

func (s Slot) read(d *check.Decoder, m message) { m.readSlot(d, s, nil) }

func (s *Shaped) read(d *check.Decoder, m message) { m.readSlot(d, s.Slot, &s.Shape) }

func (r *ElicitResult) readSlot(d *check.Decoder, slot Slot, _ *Shape) {
	switch slot {
	case SlotAction:
		r.Action = d.String(nil)
	case SlotContent:
		if d.Kind(&objectOrNull) != 0 { // some clients write null where the user has filled in nothing
			r.Content = d.Alias(nil)
		}
	default:
		d.Skip()
	}
}

func (r *CallResult) readSlot(d *check.Decoder, slot Slot, _ *Shape) {
	switch slot {
	case SlotContent:
		r.Content = d.Alias(nil)
	case SlotIsError:
		r.IsError = d.Bool(nil)
	case SlotStructuredContent:
		r.StructuredContent = d.Alias(nil)
	case SlotMeta:
		r.Meta = d.Alias(nil)
	default:
		d.Skip()
	}
}

func (p *Params) readSlot(d *check.Decoder, slot Slot, s *Shape) {
	if int(slot) < len(params) && params[slot] != nil {
		params[slot](d, p, s)
	} else {
		d.Skip()
	}
}

// params has the functions that read the fields of Params, by slot.
var params = [...]func(d *check.Decoder, p *Params, s *Shape){
	SlotProtocolVersion:    func(d *check.Decoder, p *Params, _ *Shape) { p.ProtocolVersion = d.String(nil) },
	SlotCapabilities:       func(d *check.Decoder, p *Params, _ *Shape) { p.Capabilities = readObject(d) },
	SlotClientInfo:         func(d *check.Decoder, p *Params, s *Shape) { p.ClientInfo = s.readObject(d) },
	SlotClientCapabilities: func(d *check.Decoder, p *Params, _ *Shape) { p.ClientCapabilities = readObject(d) },
	SlotLogLevel:           func(d *check.Decoder, p *Params, s *Shape) { p.LogLevel = s.readText(d) },
	SlotProgressToken:      func(d *check.Decoder, p *Params, _ *Shape) { p.readToken(d) },
	SlotCursor:             func(d *check.Decoder, p *Params, _ *Shape) { p.Cursor, p.HasCursor = d.String(nil), true },
	SlotName:               func(d *check.Decoder, p *Params, _ *Shape) { p.Name = d.String(nil) },
	SlotURI:                func(d *check.Decoder, p *Params, _ *Shape) { p.URI = d.String(nil) },
	SlotArguments:          func(d *check.Decoder, p *Params, s *Shape) { p.Arguments = s.readArguments(d) },
	SlotArgument:           func(d *check.Decoder, p *Params, _ *Shape) { p.Argument = d.String(nil) },
	SlotValue:              func(d *check.Decoder, p *Params, _ *Shape) { p.Value = d.String(nil) },
	SlotInputResponses:     func(d *check.Decoder, p *Params, _ *Shape) { p.InputResponses = readObject(d) },
	SlotRequestState:       func(d *check.Decoder, p *Params, _ *Shape) { p.RequestState, p.HasState = d.String(nil), true },
	SlotTask:               func(d *check.Decoder, p *Params, _ *Shape) { p.Task = readTask(d) },
	SlotTTL:                func(d *check.Decoder, p *Params, _ *Shape) { p.TTL, p.HasTTL = d.Int(nil), true },
	SlotTaskID:             func(d *check.Decoder, p *Params, _ *Shape) { p.TaskID = d.String(nil) },
	SlotRequestID:          func(d *check.Decoder, p *Params, _ *Shape) { p.RequestID = ReadID(d) },
	SlotReason:             func(d *check.Decoder, p *Params, _ *Shape) { p.Reason = d.String(nil) },
	SlotLevel:              func(d *check.Decoder, p *Params, _ *Shape) { p.Level = d.String(nil) },
	SlotToolsChanged:       func(d *check.Decoder, p *Params, _ *Shape) { p.ToolsChanged = d.Bool(nil) },
	SlotPromptsChanged:     func(d *check.Decoder, p *Params, _ *Shape) { p.PromptsChanged = d.Bool(nil) },
	SlotResourcesChanged:   func(d *check.Decoder, p *Params, _ *Shape) { p.ResourcesChanged = d.Bool(nil) },
	SlotResourceURIs:       func(d *check.Decoder, p *Params, _ *Shape) { p.ResourceURIs = d.Strings(nil, nil) },
	SlotTaskIDs:            func(d *check.Decoder, p *Params, _ *Shape) { p.TaskIDs = d.Strings(nil, nil) },
}

var (
	objects      = check.Union{Keyword: "type", Kinds: check.KindObject}
	objectOrNull = check.Union{Keyword: "type", Kinds: check.KindObject | check.KindNull}
	tokens       = check.Union{Keyword: "type", Kinds: check.KindString | check.KindInteger}
	longToken    = check.Not{At: "#", Allowed: "a token of at most " + strconv.Itoa(rpc.MaxIDBytes) + " bytes"}
)

func readObject(d *check.Decoder) []byte {
	if d.Kind(&objects) == 0 {
		return nil
	}
	return d.Alias(nil)
}

// readToken reads a progress token. A value that can not be a progress token is a violation.
func (p *Params) readToken(d *check.Decoder) {
	kind := d.Kind(&tokens)
	if kind == 0 {
		return
	}
	d.Also(func(d *check.Decoder) { p.ProgressToken = ReadID(d) })
	switch {
	case !p.ProgressToken.IsZero():
		d.Skip()
	case kind == check.KindNumber:
		d.Int(nil) // reports the violation
	default:
		d.Not(&longToken, (*check.Decoder).Skip)
		d.Skip()
	}
}

// readTask returns the value of the member with which a client asks for a task. Some clients write null where they ask for none.
func readTask(d *check.Decoder) []byte {
	if task := d.Alias(nil); string(task) != "null" {
		return task
	}
	return nil
}
