package wire

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// ParamsRule is an object of params as one revision spells it: its members, and the function that reads each, in the same order.
// That is one of those below, the one of an object that the member is, or one that reads its Shape.
type ParamsRule struct {
	Object check.Object
	Read   []ReadParam
}

// ParamsForms is a member of params that is one of several objects, told apart by the text of one of their members: the forms, and the
// function that reads each, in the same order.
type ParamsForms struct {
	Union check.Union
	Read  []ReadParam
}

// ReadParam reads the value of one member. One that it can not be is a violation (LET05).
type ReadParam = func(*check.Decoder, *Params)

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

// Read fills the fields of p that the members of an object are.
func (p *Params) Read(d *check.Decoder, rule *ParamsRule) {
	for f := d.Object(&rule.Object); f >= 0; f = d.Next() {
		rule.Read[f](d, p)
	}
}

// ReadForm fills the fields of p that the members of the form are that an object has. One that has none is a violation.
func (p *Params) ReadForm(d *check.Decoder, rule *ParamsForms) {
	check.Pick(d, &rule.Union, func(d *check.Decoder, form int) (none struct{}) {
		rule.Read[form](d, p)
		return none
	})
}

// ReadProtocolVersion reads Params.ProtocolVersion.
func ReadProtocolVersion(d *check.Decoder, p *Params) { p.ProtocolVersion = d.String(nil) }

// ReadCapabilities reads Params.Capabilities.
func ReadCapabilities(d *check.Decoder, p *Params) { p.Capabilities = readObject(d) }

// ReadClientInfo reads Params.ClientInfo.
func ReadClientInfo(d *check.Decoder, p *Params) { p.ClientInfo = readObject(d) }

// ReadClientCapabilities reads Params.ClientCapabilities.
func ReadClientCapabilities(d *check.Decoder, p *Params) { p.ClientCapabilities = readObject(d) }

// ReadLogLevel reads Params.LogLevel.
func ReadLogLevel(d *check.Decoder, p *Params) { p.LogLevel = d.String(nil) }

// ReadProgressToken reads Params.ProgressToken. One that nothing could be reported under is a violation.
func ReadProgressToken(d *check.Decoder, p *Params) {
	kind := d.Kind(&tokens)
	if kind == 0 {
		return
	}
	d.Also(func(d *check.Decoder) { p.ProgressToken = ReadID(d) })
	switch {
	case !p.ProgressToken.IsZero():
		d.Skip()
	case kind == check.KindNumber:
		d.Int(nil) // which says so
	default:
		d.Not(&longToken, (*check.Decoder).Skip)
		d.Skip()
	}
}

// ReadCursor reads Params.Cursor.
func ReadCursor(d *check.Decoder, p *Params) { p.Cursor, p.HasCursor = d.String(nil), true }

// ReadName reads Params.Name.
func ReadName(d *check.Decoder, p *Params) { p.Name = d.String(nil) }

// ReadURI reads Params.URI.
func ReadURI(d *check.Decoder, p *Params) { p.URI = d.String(nil) }

// ReadArguments reads Params.Arguments. Some clients write null for none.
func ReadArguments(d *check.Decoder, p *Params) {
	if args := d.Kind(&objectOrNull); args == check.KindObject {
		p.Arguments = d.Alias(nil)
	} else if args != 0 {
		d.Skip()
	}
}

// ReadArgument reads Params.Argument.
func ReadArgument(d *check.Decoder, p *Params) { p.Argument = d.String(nil) }

// ReadValue reads Params.Value.
func ReadValue(d *check.Decoder, p *Params) { p.Value = d.String(nil) }

// ReadInputResponses reads Params.InputResponses.
func ReadInputResponses(d *check.Decoder, p *Params) { p.InputResponses = readObject(d) }

// ReadRequestState reads Params.RequestState.
func ReadRequestState(d *check.Decoder, p *Params) { p.RequestState, p.HasState = d.String(nil), true }

// ReadTask reads Params.Task. Some clients write null for none.
func ReadTask(d *check.Decoder, p *Params) {
	if task := d.Alias(nil); string(task) != "null" {
		p.Task = task
	}
}

// ReadTTL reads Params.TTL.
func ReadTTL(d *check.Decoder, p *Params) { p.TTL, p.HasTTL = d.Int(nil), true }

// ReadTaskID reads Params.TaskID.
func ReadTaskID(d *check.Decoder, p *Params) { p.TaskID = d.String(nil) }

// ReadRequestID reads Params.RequestID.
func ReadRequestID(d *check.Decoder, p *Params) { p.RequestID = ReadID(d) }

// ReadReason reads Params.Reason.
func ReadReason(d *check.Decoder, p *Params) { p.Reason = d.String(nil) }

// ReadLevel reads Params.Level.
func ReadLevel(d *check.Decoder, p *Params) { p.Level = d.String(nil) }

// ReadToolsChanged reads Params.ToolsChanged.
func ReadToolsChanged(d *check.Decoder, p *Params) { p.ToolsChanged = d.Bool(nil) }

// ReadPromptsChanged reads Params.PromptsChanged.
func ReadPromptsChanged(d *check.Decoder, p *Params) { p.PromptsChanged = d.Bool(nil) }

// ReadResourcesChanged reads Params.ResourcesChanged.
func ReadResourcesChanged(d *check.Decoder, p *Params) { p.ResourcesChanged = d.Bool(nil) }

// ReadResourceURIs reads Params.ResourceURIs.
func ReadResourceURIs(d *check.Decoder, p *Params) { p.ResourceURIs = d.Strings(nil, nil) }

// ReadTaskIDs reads Params.TaskIDs.
func ReadTaskIDs(d *check.Decoder, p *Params) { p.TaskIDs = d.Strings(nil, nil) }

// Shape is what a revision's definition of a member says about its value, where the runtime keeps that as text or reads only some of it:
// what the value can not be is a violation (LET05). The zero Shape takes anything.
type Shape struct {
	Kind    check.Kind   // of the value: KindObject, KindArray, KindString or KindBool; 0: any
	Null    bool         // null is taken, too, which some clients write for none
	Enum    check.Enum   // of a string: what it may be; without values: anything
	Object  check.Object // of an object: the members that have names,
	Members []Shape      // and what they are, in the same order
	Others  *Shape       // of an object: what its other members are; nil: anything
	Items   *Shape       // of an array; nil: anything
}

// Read takes a value and returns its text; nil for null, and for what is of another kind.
func (s *Shape) Read(d *check.Decoder) []byte {
	kind, start := d.Kind(nil), d.Position()
	s.take(d)
	if kind&s.Kind == 0 && s.Kind != 0 {
		return nil
	}
	return d.Since(start)
}

// ReadText is Read for a string.
func (s *Shape) ReadText(d *check.Decoder) string {
	if len(s.Enum.Values) > 0 {
		return d.Enum(&s.Enum)
	}
	return d.String(nil)
}

func (s *Shape) take(d *check.Decoder) {
	switch {
	case s.Null && d.Null():
	case s.Kind == check.KindString && len(s.Enum.Values) > 0:
		d.Enum(&s.Enum)
	case s.Kind == check.KindString:
		d.Text(nil)
	case s.Kind == check.KindBool:
		d.Bool(nil)
	case s.Kind == check.KindArray:
		for more := d.Array(nil); more; more = d.Item() {
			s.Items.takeAny(d)
		}
	case s.Kind == check.KindObject:
		for f := d.Object(&s.Object); f >= 0; f = d.Next() {
			if f < len(s.Members) {
				s.Members[f].take(d)
			} else {
				s.Others.takeAny(d)
			}
		}
	default:
		d.Skip()
	}
}

// takeAny is take for a shape that may not be there.
func (s *Shape) takeAny(d *check.Decoder) {
	if s == nil {
		d.Skip()
	} else {
		s.take(d)
	}
}
