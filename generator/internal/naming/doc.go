// Package naming makes Go names out of the text of schemas and manifests. It is for those who change how generated code spells
// names. Begin with name.go. Who is asked for a name first is decided by ../typing and ../lower.
//
//	name.go      words, initialisms, names of one scope that have to differ, and Names, which hands out each once
//	singular.go  what an element of a list is called
package naming
