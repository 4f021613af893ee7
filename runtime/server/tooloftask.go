package server

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// maxRemovedTools is how many removed tools are kept for tasks that they have accepted.
const maxRemovedTools = 64

// toolsOfTasks says which tool a task runs that has only what is stored of it: the one that accepted its arguments, though another one may have its
// name by now (SRV06). In another process, or after a restart, the name decides.
type toolsOfTasks struct {
	process string // begins the marks that this Server gives

	mu      sync.Mutex
	marked  uint64  // how many tools have a mark
	removed []*Tool // those that may run as tasks, newest last
}

// mark gives a tool the mark that is stored with its tasks.
func (k *toolsOfTasks) mark(t *Tool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.marked++
	t.mark, t.calls = k.process+"."+strconv.FormatUint(k.marked, 10), new(sharedByCalls)
}

// remove removes a tool, and keeps it for its tasks. It reports whether there was such a tool.
func (k *toolsOfTasks) remove(name string, from *registry[Tool]) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := from.remove(name)
	if t != nil && t.Task.Support != TaskForbidden {
		k.removed = append(k.removed, t)
		if len(k.removed) > maxRemovedTools {
			k.removed[0], k.removed = nil, k.removed[1:]
		}
	}
	return t != nil
}

// canRun reports whether this process has the tool of a task. A tool that it accepted the task for and has removed since is in no other process either.
func (s *Server) canRun(run *task.Run) bool {
	if run.Local() != nil {
		return true
	}
	t := run.Task()
	tool, ours := s.toolOf(&t)
	return tool != nil || ours || s.taskLife(t.ID) != nil
}

// toolOf returns the tool of a task; nil: it was removed, or is not in this process. ours: a tool of this process accepted the task.
func (s *Server) toolOf(t *task.Task) (_ *Tool, ours bool) {
	var meta taskMeta
	_ = json.Unmarshal(t.Meta, &meta) // request.taskMeta wrote it; if it can not be read, the name decides
	k := &s.ofTasks
	k.mu.Lock()
	defer k.mu.Unlock()
	named := s.tools.get(t.Tool)
	ours = strings.HasPrefix(meta.Tool, k.process+".")
	if named != nil && named.mark == meta.Tool || !ours {
		return named, ours
	}
	if i := slices.IndexFunc(k.removed, func(r *Tool) bool { return r.mark == meta.Tool }); i >= 0 {
		return k.removed[i], true
	}
	return nil, true
}
