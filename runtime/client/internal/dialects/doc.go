// Package dialects has the protocol revisions that a client speaks, made of the folders in schema/. A test of the generator keeps them in
// step; go test ./generator -update writes them anew. It is for package client alone; nobody edits it.
package dialects
