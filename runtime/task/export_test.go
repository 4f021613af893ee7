package task

// Timers is how many deadlines the engine holds.
func (e *Engine) Timers() int {
	e.timers.mu.Lock()
	defer e.timers.mu.Unlock()
	return e.timers.queue.Len()
}

// Live is how many tasks the engine holds something of.
func (e *Engine) Live() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs)
}
