// Package subsume decides whether one JSON Schema accepts all that another accepts (subsumption, or the inclusion of schemas). It is for
// those who compare two versions of a schema: Compare says equal, narrower, wider, incomparable, or undecided, and shows a value
// that one of the schemas accepts and the other refuses.
//
// A accepts nothing that B refuses if no value satisfies A and not B. So there is one question, whether some value satisfies a list of
// schemas and the negations of others, and it is answered by searching for such a value (a tableau, as in description logics):
//
//	subsume.go     Compare, and what it returns
//	value.go       the search for a value, kind by kind; results that are known already; the limit of steps
//	branch.go      choices between options, and branches of the search
//	alternative.go the schemas of a oneOf, and which of them plainly exclude each other
//	keyword.go     what each keyword demands, and what its negation does: the table that a new keyword needs a row in
//	unevaluated.go the keywords that depend on which parts other keywords have evaluated
//	item.go property.go
//	               what the keywords of arrays and objects demand
//	number.go text.go array.go object.go
//	               a value of one kind that fits the facts, or none
//	automaton.go   a text that some patterns match and others do not
//	format.go      what is known of formats
//	included.go    schemas of which one plainly allows no more than the other
//	witness.go     values that are tried where the search takes too many steps
//	edit.go        the first values that are tried: made around the places at which two schemas differ
//	variation.go   the next ones: variations of such a value, since the schemas around these places may hide the difference
//	holds.go       whether a value satisfies a schema
//	same.go        schemas with the same keywords and values
//
// A value that was found is validated against the schemas before it counts, so "narrower", "wider" and "incomparable" have a witness. The answer is
// that no value exists only if every choice led to a contradiction. A question is undecided if it takes too many steps, or needs something that
// this package can not decide (several formats, many patterns for one name).
//
// Schemas mean what JSON Schema says, with formats asserted and patterns of ECMA-262. That a Go type may allow less (integers of 64
// bits) is ignored: it is the same on both sides.
//
// # Words of this package
//
//	site            a schema, with the document in which its references are resolved
//	literal         the condition that a value satisfies a schema, or (holds is false) does not; a goal is all the literals that one value has to meet
//	atom            a keyword of a schema, or its negation, for values of one kind; the table has a method that returns what it demands
//	choice, option  a demand: one option of a choice has to be met, and all terms of an option
//	term            a literal, a property that an object has or lacks, or a note, which adds to the facts
//	facts           what is known of a value of one kind: its bounds, for example. An obstacle is a demand that facts can not express: then
//	                "there is no value" can not be concluded
//	branch          a partial solution of a goal, with the choices that are left; a leaf has none left: a value is made from its facts
//	way             a partial solution of any search: a branch, an object or the items of an array so far, the schemas that hold
//	names           a class of properties: those that are listed or match a pattern, or with others all but those. mentioned are those that
//	                properties and patternProperties name
//	shape           of a format: a pattern that all its texts match
//	evaluated       of an item or a property: a keyword that unevaluatedItems or unevaluatedProperties looks at applies to it
//	witness         a value that one schema accepts and the other refuses
//	part            of a schema: a subschema of it; of a value: an item or the value of a property
//	probe           a part of the schemas against which tried values are validated
//	plainly         as far as a comparison of keywords shows, without a search
//	anchor          of a $dynamicRef: where only one schema of the document has it (soleAnchor), the reference leads there
//
// # Rejected
//
//   - Comparing keyword by keyword: a value that one keyword begins to allow may still be refused by another, and a keyword that moves into an
//     allOf is no change.
//   - Comparing the types of package typing: they say how a value is stored, and their conditions would have to be compared as
//     schemas all the same.
//   - Sampling values alone: "compatible" would mean that nothing was found.
package subsume
