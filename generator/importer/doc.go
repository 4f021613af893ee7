// Package importer makes a manifest from the tools of another server, and proves that a server that is generated from it advertises the same.
// It is for the command import, and for those who change how tools are imported.
//
//	source.go    reads a server's description: saved answers to tools/list, all of their pages
//	manifest.go  the manifest as a value, with its keys in their order
//	share.go     definitions that several tools have become schemas of the manifest
//	yaml.go      the same as commented YAML
//	suggest.go   what would tighten it, as comments
//	keep.go      leaves out what can not be generated, and reports that
//	proof.go     compares what would be advertised with the source
//
// Nothing here reads a file or connects to a server.
//
// # Rejected
//
// The answer itself as the manifest: generate accepts it, but it is hard to edit, and mistakes that are errors in a manifest are passed on.
//
// Keywords of schemas in the order of the source: in many servers it is arbitrary, as a library happens to write them. Members of JSON objects
// have no order, and a reader looks for the type first.
package importer
