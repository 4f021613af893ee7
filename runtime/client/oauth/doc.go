// Package oauth logs a client in where an MCP server wants a token. It has no OAuth of its own: it puts a handler of the official Go SDK's
// package auth in front of the HTTP client of a session. The handler finds the authorization server, registers, has the user agree,
// and refreshes the token. It is for programs whose servers ask for one.
//
//	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{ … })
//	server := client.HTTP("https://example.com/mcp")
//	if err := oauth.Use(server, handler); err != nil { … }
//	s, err := client.Connect(ctx, server)
//
// Every request to the origin of the server carries the token as a bearer, and none to another one does. Nothing here logs it. A 401 or 403
// in answer to a request has the handler authorize, once for all requests that meet it, and the request is sent again. The time that the
// user takes for that counts in no timeout but that of questions (client.WithQuestionTimeout). For notifications, and streams that no call
// waits for, nobody is asked.
package oauth
