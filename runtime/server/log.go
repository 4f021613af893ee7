package server

import "context"

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

// LogMessage sends a log record to the client, if it asked for records of this level: with logging/setLevel in handshake
// revisions, with the request itself in stateless ones. data is anything that encodes as JSON. Tasks of stateless revisions
// send none (PRO04).
func (c *Call) LogMessage(ctx context.Context, level Level, logger string, data any) {}
