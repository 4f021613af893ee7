// Package dialects has the protocol revisions that a client supports, generated from the folders in schema/. A test of the generator fails when
// they are out of date; go test ./generator -update writes them anew. It is for package client alone; do not edit it.
package dialects
