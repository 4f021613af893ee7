package server

import "github.com/mcpkiln/mcpkiln/runtime/check"

// ParamsRule is an object of params as one revision spells it: its members, and the function that reads each, in the same order.
// That is one of those below, or the one of an object that the member is.
type ParamsRule struct {
	Object check.Object
	Read   []ReadParam
}

// ReadParam reads the value of one member.
type ReadParam = func(*check.Decoder, *Params)

// Read fills the fields of p that the members of an object are.
func (p *Params) Read(d *check.Decoder, rule *ParamsRule) {
	for f := d.Object(&rule.Object); f >= 0; f = d.Next() {
		rule.Read[f](d, p)
	}
}

// ReadProtocolVersion reads Params.ProtocolVersion.
func ReadProtocolVersion(d *check.Decoder, p *Params) { p.ProtocolVersion = d.String(nil) }

// ReadCapabilities reads Params.Capabilities.
func ReadCapabilities(d *check.Decoder, p *Params) { p.Capabilities = d.Alias(nil) }

// ReadClientInfo reads Params.ClientInfo.
func ReadClientInfo(d *check.Decoder, p *Params) { p.ClientInfo = d.Alias(nil) }

// ReadClientCapabilities reads Params.ClientCapabilities.
func ReadClientCapabilities(d *check.Decoder, p *Params) { p.ClientCapabilities = d.Alias(nil) }

// ReadLogLevel reads Params.LogLevel.
func ReadLogLevel(d *check.Decoder, p *Params) { p.LogLevel = d.String(nil) }

// ReadProgressToken reads Params.ProgressToken.
func ReadProgressToken(d *check.Decoder, p *Params) { p.ProgressToken = ReadID(d) }

// ReadCursor reads Params.Cursor.
func ReadCursor(d *check.Decoder, p *Params) { p.Cursor = d.String(nil) }

// ReadName reads Params.Name.
func ReadName(d *check.Decoder, p *Params) { p.Name = d.String(nil) }

// ReadURI reads Params.URI.
func ReadURI(d *check.Decoder, p *Params) { p.URI = d.String(nil) }

// ReadArguments reads Params.Arguments.
func ReadArguments(d *check.Decoder, p *Params) { p.Arguments = d.Alias(nil) }

// ReadInputResponses reads Params.InputResponses.
func ReadInputResponses(d *check.Decoder, p *Params) { p.InputResponses = d.Alias(nil) }

// ReadRequestState reads Params.RequestState.
func ReadRequestState(d *check.Decoder, p *Params) { p.RequestState, p.HasState = d.String(nil), true }

// ReadTask reads Params.Task.
func ReadTask(d *check.Decoder, p *Params) { p.Task = d.Alias(nil) }

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
