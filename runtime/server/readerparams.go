package server

import (
	"bytes"
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// A task's request to the client may be put by a client of another revision than the one that created the task (REV03), also by another process. So it is
// recorded with its params in each revision that has tasks, where these differ (LET01): as an array of revisionParams, while params are always an object.

// revisionParams are the params of a recorded request in one revision.
type revisionParams struct {
	Revision string          `json:"revision"`
	Params   json.RawMessage `json:"params"`
}

// forReaders returns what is recorded of a task's request: own, the params in the revision of the task, if they are the same in every other revision
// that has tasks, else those of each revision that has valid ones.
func (r *ClientRequest[In, Out]) forReaders(c *Call, in *In, own []byte) []byte {
	var all []revisionParams
	same := true
	for _, rev := range c.s.revisions {
		if !rev.tasks {
			continue
		}
		params := own
		if rev != c.revision {
			params = r.paramsIn(c.s, rev, in)
			same = same && bytes.Equal(params, own)
		}
		if params != nil {
			all = append(all, revisionParams{rev.Version, params})
		}
	}
	if same {
		return own
	}
	recorded, _ := json.Marshal(all) // raw JSON that was validated does not fail
	return recorded
}

// paramsIn returns the params in the revision, nil if they are invalid there.
func (r *ClientRequest[In, Out]) paramsIn(s *Server, rev *revision, in *In) []byte {
	codec := r.codec(rev.Version)
	if codec == nil {
		return nil
	}
	q, ok := rev.adaptQuestion(task.Question{Method: r.method(), Payload: codec.params(in)})
	if !ok {
		return nil
	}
	params, _ := rev.withoutOwnMembers(q.Payload, nil)
	if s.validate(params, codec.check()) != nil {
		return nil
	}
	return params
}

// paramsOf returns the params of a recorded request in the revision, nil if it can not be put there.
func (rev *revision) paramsOf(q *task.Question) []byte {
	if len(q.Payload) == 0 || q.Payload[0] != '[' {
		return q.Payload
	}
	var all []revisionParams
	_ = json.Unmarshal(q.Payload, &all) // forReaders wrote it
	for _, p := range all {
		if p.Revision == rev.Version {
			return p.Params
		}
	}
	return nil
}
