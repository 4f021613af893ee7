// Package subsume decides whether one JSON Schema accepts all that another accepts (subsumption, or the inclusion of schemas). It is for
// those who compare two versions of a schema: Compare says equal, narrower, wider, incomparable, or that it can not tell, and shows a value
// of which the two schemas say different things.
//
// A accepts nothing that B refuses if no value satisfies A and not B. So there is one question, whether some value satisfies a list of
// schemas and the negations of others, and it is answered by looking for that value (a tableau, as in the logic of descriptions):
//
//	subsume.go     Compare, and what it returns
//	value.go       the question, kind by kind; what was answered before; where looking ends
//	branch.go      choices: one of these, and then all of those
//	alternative.go the schemas of a oneOf, and which of them plainly exclude each other
//	keyword.go     what each keyword demands, and what its negation does: the table that a new keyword needs a row in
//	unevaluated.go those that depend on what other keywords have looked at
//	item.go property.go
//	               what the keywords of arrays and objects demand
//	number.go text.go array.go object.go
//	               a value of one kind that meets what has been gathered, or none
//	automaton.go   a text that some patterns match and others do not
//	format.go      what is known of formats
//	included.go    where one schema plainly says no more than the other
//	witness.go     values that are tried where the search has too many ways to go
//	edit.go        the first of them: a value made around the place in which two schemas differ
//	variation.go   such a value, varied until what stands around the place does not hide the difference
//	holds.go       whether a value satisfies a schema
//	same.go        schemas that say the same in the same words
//
// A value that was found is held against the schemas before it counts, so "narrower" and "incomparable" have a witness. That there is none
// is said only where every choice led to a contradiction. What takes more than a number of steps, or needs what is not decided here
// (several formats, many patterns for one name), is undecided.
//
// Schemas are taken as JSON Schema means them, with formats asserted and patterns of ECMA-262. That a Go type holds less (integers of 64
// bits) is the same for both.
//
// # Words of this package
//
//	site            a schema, with the document that its references start from
//	literal         that a value satisfies a schema, or (holds is false) that it does not; a goal is all the literals that one value has to meet
//	atom            a keyword of a schema, or its negation, for values of one kind. says is what it demands
//	choice, option  that demand: one option of a choice has to be met, and all terms of an option
//	term            a literal, a property that an object has or lacks, or a note, which adds to the facts
//	facts           what is known of a value of one kind: its bounds, for example. An obstacle is what they can not say: then only a value that is
//	                found decides
//	branch          a way to meet a goal, with the choices that are left; a leaf has none: a value is made of its facts
//	names           a class of properties: those that are listed or match a pattern, or with others all but those. mentioned are those that
//	                properties and patternProperties name
//	witness         a value of which two schemas say different things
//	anchor          of a $dynamicRef: where only one schema of the document has it (soleAnchor), the reference leads there
//
// # Rejected
//
//   - Comparing keyword by keyword: what one keyword loosens another may hold, and a keyword that moves into an allOf is no change.
//   - Comparing the types of package typing: they say how a value is held, and what they leave to conditions would have to be compared as
//     schemas all the same.
//   - Sampling values alone: "compatible" would mean that nothing was found.
package subsume
