// Package naming makes Go names out of the text of schemas and manifests. It is for those who change how generated code spells
// names. Begin with name.go. Which declaration gets a name that several claim is decided by ../typing and ../lower.
//
//	name.go      words, initialisms, names of one scope that have to differ, and Names, which hands out each once
//	singular.go  the name of an element of a list
package naming
