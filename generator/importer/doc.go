// Package importer makes a manifest from the tools of another server, and proves that a server that is generated from it advertises the same tools.
// It is for the command import, and for those who change how tools are imported.
//
//	source.go    reads a server's description: saved answers to tools/list, all of their pages
//	manifest.go  the manifest as a value, with its keys in their order
//	share.go     definitions that several tools have become schemas of the manifest
//	yaml.go      the manifest as commented YAML
//	suggest.go   comments that suggest stricter schemas
//	keep.go      leaves out what can not be generated, and reports that
//	proof.go     compares what would be advertised with the source
//
// Nothing here reads a file or connects to a server.
//
// # Words of this package
//
//	source      what the other server says of itself and of its tools; an answer is a response to tools/list in it, which may be a page of the list
//	advertised  shown in the answer to tools/list
//	loss        something of the source that the generated server does not advertise, or advertises differently
//
// # Rejected
//
// The saved answer itself as the manifest: generate accepts it, but it is hard to edit, and mistakes that are errors in a manifest are passed on.
//
// Keywords of schemas in the order of the source: in many servers it is arbitrary, as a library happens to write them. Members of JSON objects
// have no order, and a reader looks for the type first.
package importer
