// Package importer makes a manifest of the tools that another server has, and proves that what is generated from it advertises the same. It
// is for the command import, and for those who change what is made of a tool.
//
//	source.go    what a server says of itself: reads saved answers to tools/list, all of their pages
//	manifest.go  the manifest as a value, with its keys in their order
//	share.go     definitions that several tools have become schemas of the manifest
//	yaml.go      the same as commented YAML
//	suggest.go   what would tighten it, as comments
//	keep.go      leaves out what can not be generated, and says so
//	proof.go     holds what would be advertised against the source
//
// Nothing here reads a file or reaches a server.
//
// # Rejected
//
// The answer itself as the manifest: it can be generated from, but nobody can edit it, and what is a slip in a manifest is passed on.
//
// Keywords of schemas in the order of the source: many servers write them in the order in which a library happens to. JSON does not know
// an order, and a person looks for the type first.
package importer
