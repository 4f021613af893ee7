// Package oauth logs a client in where an MCP server requires a token. It has no OAuth of its own: it puts a handler of the official Go SDK's
// package auth in front of the HTTP client of a session. The handler finds the authorization server, registers, asks the user to agree,
// and refreshes the token. It is for programs whose servers require one.
//
//	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{ … })
//	server := client.HTTP("https://example.com/mcp")
//	if err := oauth.Use(server, handler); err != nil { … }
//	s, err := client.Connect(ctx, server)
//
// Every request to the origin of the server has the token as a bearer token, and none to another one does. Nothing here logs it. After a 401 or 403
// the handler authorizes, once for all requests that got one, and the request is sent again. The time that the
// user takes for that counts in no timeout but that of questions (client.WithQuestionTimeout). For notifications, and streams that no call
// waits for, the user is not asked.
package oauth
