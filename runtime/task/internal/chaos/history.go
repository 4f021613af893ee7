package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// History has the reports of replicas.
type History struct {
	mu sync.Mutex
	// events are the reported details by word, then by task.
	events map[string]map[string][]string
	wake   chan struct{}
}

// NewHistory returns an empty one.
func NewHistory() *History {
	return &History{events: map[string]map[string][]string{}, wake: make(chan struct{})}
}

// Note reads a report: a word, a task, a detail.
func (h *History) Note(line string) {
	word, rest, _ := strings.Cut(line, " ")
	id, detail, _ := strings.Cut(rest, " ")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.events[word] == nil {
		h.events[word] = map[string][]string{}
	}
	if !slices.Contains(h.events[word][id], detail) || word == "finished" {
		h.events[word][id] = append(h.events[word][id], detail)
	}
	close(h.wake)
	h.wake = make(chan struct{})
}

// Count returns how many tasks were reported with a word.
func (h *History) Count(word string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.events[word])
}

// Said returns the details that were reported of a task with a word.
func (h *History) Said(word, id string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events[word][id])
}

// String counts the tasks by the words of their reports.
func (h *History) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var counts []string
	for word, tasks := range h.events {
		counts = append(counts, fmt.Sprint(len(tasks), " ", word))
	}
	slices.Sort(counts)
	return strings.Join(counts, ", ")
}

// IDs returns the tasks that were reported with a word.
func (h *History) IDs(word string) (ids []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.events[word] {
		ids = append(ids, id)
	}
	return ids
}

// Await waits until a condition holds, which is checked after each report.
func (h *History) Await(ctx context.Context, holds func() bool) error {
	for {
		h.mu.Lock()
		wake := h.wake
		h.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return fmt.Errorf("nothing of the kind was said: %w", ctx.Err())
		}
	}
}

// Settle works on a store, without creating anything, until no task is left unfinished. What it does is part of the history.
func (h *History) Settle(ctx context.Context, store task.Store, lease time.Duration) error {
	w := newWorker(Replica{Node: "last", Lease: lease}, tasktest.Replica{Store: store}, func(words ...any) { h.Note(strings.TrimSuffix(fmt.Sprintln(words...), "\n")) })
	working, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { w.work(working) })
	defer done.Wait()
	defer stop()
	for rest(ctx) {
		left, err := store.Count(ctx, task.Filter{Statuses: []task.Status{task.Working, task.InputRequired}})
		if err != nil {
			return err
		}
		if len(left) == 0 {
			return nil
		}
	}
	return fmt.Errorf("tasks are stuck: %w", ctx.Err())
}

// Check is the model: it compares the reports with the store, and returns what does not agree.
func (h *History) Check(ctx context.Context, store task.Store) (wrong []string) {
	for _, id := range h.IDs("created") {
		t, err := store.Get(ctx, owner, id)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Sprintf("%s was acknowledged and is lost: %v", id, err))
			continue
		case t.Status != task.Completed:
			wrong = append(wrong, fmt.Sprintf("%s is %s: %s", id, t.Status, t.StatusMessage))
			continue
		}
		step, answer, _ := strings.Cut(string(t.Result), "/")
		if said := h.Said("stepped", id); len(said) != 1 || said[0] != step {
			wrong = append(wrong, fmt.Sprintf("%s: the step gave %q, the result has %q", id, said, step))
		}
		if said := h.Said("answers", id); !slices.Contains(said, answer) {
			wrong = append(wrong, fmt.Sprintf("%s: the answers were %q, the result has %q", id, said, answer))
		}
		if said := h.Said("asked", id); len(said) > 1 {
			wrong = append(wrong, fmt.Sprintf("%s was asked %d times", id, len(said)))
		}
		if said := h.Said("finished", id); len(said) > 1 {
			wrong = append(wrong, fmt.Sprintf("%s was finished %d times", id, len(said)))
		}
		for _, seen := range append(h.Said("seen", id), h.Said("finished", id)...) {
			if seen != string(t.Result) {
				wrong = append(wrong, fmt.Sprintf("%s: somebody saw %q, the result is %q", id, seen, t.Result))
			}
		}
	}
	return wrong
}
