package server

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Level is the severity of a log message to the client. Levels are ordered as they are listed.
type Level string

// The levels.
const (
	LevelDebug     Level = "debug"
	LevelInfo      Level = "info"
	LevelNotice    Level = "notice"
	LevelWarning   Level = "warning"
	LevelError     Level = "error"
	LevelCritical  Level = "critical"
	LevelAlert     Level = "alert"
	LevelEmergency Level = "emergency"
)

// logLevel is the index of a Level in the order of the levels.
type logLevel int8

const (
	silentLevel  logLevel = 8 // above every Level: nothing is sent
	defaultLevel logLevel = 1 // of a session whose client did not choose: info
)

// order returns the level's index in the order, false if it is not one of the levels.
func (l Level) order() (logLevel, bool) {
	order := [...]Level{LevelDebug, LevelInfo, LevelNotice, LevelWarning, LevelError, LevelCritical, LevelAlert, LevelEmergency}
	i := slices.Index(order[:], l)
	return logLevel(i), i >= 0
}

func unknownLevel(at, name string) *rpc.Error {
	return refusedParam(at, "unknown log level %s", rpc.Quoted(name))
}

// LogMessage sends a log record to the client, if the client asked for records of this level: in revisions with a handshake by logging/setLevel
// (before that: info and above), in stateless ones in the request itself. data is anything that encodes as JSON.
// Tasks of stateless revisions send none (PRO04). Records beyond Rates.LogMessages are dropped.
func (c *Call) LogMessage(ctx context.Context, level Level, logger string, data any) {
	place, known := level.order()
	if c.peer == nil || !known || place < c.logLevel() || c.revision.names[wire.OpLog] == "" || ctx.Err() != nil || !c.mayLog() {
		return
	}
	raw, err := json.Marshal(data)
	if err == nil {
		err = c.s.validate(raw, nil)
	}
	if err != nil {
		c.Log().Warn("log message not sent", "error", err)
		return
	}
	m := wire.LogMessage{Level: string(level), Logger: logger, Data: raw, RelatedTask: c.TaskID()}
	n := notification{revision: c.revision, op: wire.OpLog, params: c.revision.AppendLog(nil, &m)}
	if !c.withhold(n) {
		_ = c.notify(n) // best effort
	}
}

// logLevel is the lowest level that the client asked for.
func (c *Call) logLevel() logLevel {
	if c.revision.Handshake {
		return logLevel(c.peer.level.Load())
	}
	return c.level
}

func (r *request) setLevel(b []byte) ([]byte, error) {
	place, known := Level(r.params.Level).order()
	if !known {
		return b, unknownLevel(atLevel, r.params.Level)
	}
	r.p.level.Store(int32(place))
	return append(b, "{}"...), nil
}
