package manifest

import "github.com/mcpkiln/mcpkiln/schema"

// Advertised returns the tool as tools/list shows it (VAL08): the entry as it was written, without the members that only mcpkiln
// knows, and with each shared schema copied into the definitions of the schema that refers to it. The member execution is returned
// separately, because not every revision has it; nil if there is none.
func (t *Tool) Advertised() (out, execution *schema.Node) {
	out = &schema.Node{Kind: schema.Object, Pos: t.Node.Pos, Pointer: t.Node.Pointer}
	if t.Node.Get("name") == nil {
		name := &schema.Node{Kind: schema.String, Pos: t.Pos, Pointer: t.Node.Pointer, Text: t.Name}
		out.Members = append(out.Members, schema.Member{Key: "name", KeyPos: t.Pos, Value: name})
	}
	for _, m := range t.Node.Members {
		switch m.Key {
		case "goName", "timeout", "cancellation", "elicitations", "clientCapabilities":
			continue
		case "inputSchema":
			m.Value = bundled(t.Input, m.Value)
		case "outputSchema":
			m.Value = bundled(t.Output, m.Value)
		case "execution":
			if e := protocolExecution(m.Value); len(e.Members) > 0 {
				execution = e
			}
			continue
		}
		out.Members = append(out.Members, m)
	}
	return out, execution
}

// bundled returns the bundled schema, or the written one if no document could be made of it.
func bundled(d *schema.Document, written *schema.Node) *schema.Node {
	if d == nil {
		return written
	}
	return d.Bundle()
}

// protocolExecution is execution with only the members of the protocol.
func protocolExecution(n *schema.Node) *schema.Node {
	out := *n
	out.Members = nil
	for _, m := range n.Members {
		switch m.Key {
		case "ttl", "maxTtl", "pollInterval", "timeout", "maxConcurrent", "onCrash", "maxReruns":
		default:
			out.Members = append(out.Members, m)
		}
	}
	return &out
}
