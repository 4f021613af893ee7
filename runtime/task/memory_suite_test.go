package task_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	tasktest.Run(t, func(*testing.T) task.Store { return task.NewMemory() })
}
