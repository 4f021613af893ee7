// Package check is what generated decoders, validators and encoders call: one pass from bytes to a typed value and all
// its violations, without reflection and without an intermediate any. It is for those who change how JSON is read, validated
// or written; users of generated code need only Raw, Optional and Nullable, all in optional.go.
//
// Ids such as VAL07 are rules; testdata/traceability/ledger.tsv lists them.
//
// # Where to look
//
//	how a number is read               number.go: Int and Float first try shortInt and shortFloat, which read most; scanNumber reads any.
//	                                   longfloat.go computes the float64 of a number with many digits, decimal.go its exact value
//	what its schema demands of it      numberrule.go
//	strings and booleans               scalar.go; formatted.go: dates, durations and the like; format/, pattern/: formats and patterns of strings
//	objects and arrays                 object.go, array.go: members and items, lists and maps in one call; names.go: which member a key names
//	forms of unions                    pick.go: what generated code calls; union.go, tag.go, trial.go: found by kind, tag and members, or by trying;
//	                                   attempt.go: likely forms are read before a trial begins; saved.go: what a trial restores;
//	                                   glance.go: which members an object has, before it is read; sought.go: those that are looked for in many objects
//	why a value has no form, or two    unionreport.go; kind.go: kinds of values
//	keywords that give no Go type      condition.go, evaluated.go, position.go: the value is validated before it is taken
//	const, enum, uniqueItems           values.go: equality; index.go: long enums
//
//	the Decoder                        decoder.go: its pool, Decode, Valid; memo.go: which schemas a value was validated against, and the outcome
//	the tables of generated code       rule.go
//	the scanner                        skip.go, stringscan.go, unescape.go, utf8.go, keys.go: syntax, strings, repeated keys
//	copies of parts of the text        copy.go
//	a text read again after validation outline.go: where its longest values end
//	what is refused, or costs too much limits.go: what is refused though encoding/json takes it (VAL07); decoded.go: memory that values take
//	                                   beyond their text, and the account that is charged for it (VAL07, TSK28)
//	violations                         violation.go, report.go: their paths and texts (VAL02); show.go: what is shown of a value; hide.go, sensitive.go: what is not
//	texts that differ only in spelling canonical.go: the form that equal values share; mention.go: names that escapes may hide;
//	                                   violationorder.go: they have the same violations (LET14)
//	encoding, and what may be missing  append*.go, optional.go; append_marked.go: a text that was read, written as a string
//	shared with the generator          address/, keyword/, paramheader/, secret/: rules on definitions of tools and questions;
//	                                   lazyregexp/: regular expressions that are compiled when they are first needed
//
// # Generated code and this package
//
// Generated code has what depends on the schema: rule tables (rule.go), one decode function per type, one append function per
// type. The package does the rest: scanning, limits, paths, required, unknown, repeated and null members, messages.
// A complete sample of generated code is in sample_test.go, where it is compiled, tested and measured:
//
//	var order = check.Object{Names: []string{"symbol", "quantity", "note"}, Required: []string{"symbol", "quantity"}, AdditionalProperties: check.Refuse}
//	var orderSymbol = check.String{Min: 1, Max: 8, Pattern: &format.Pattern{Source: "^[A-Z]+$"}}
//
//	func decodeOrder(d *check.Decoder, v *Order) {
//		for f := d.Object(&order); f >= 0; f = d.Next() {
//			switch f {
//			case 0:
//				v.Symbol = d.String(&orderSymbol)
//			case 1:
//				v.Quantity = d.Int(nil)
//			case 2:
//				v.Note = check.Some(d.String(nil))
//			}
//		}
//	}
//
//	func appendOrder(b []byte, v *Order) []byte {
//		b = append(b, '{')
//		b = check.AppendString(check.Member(b, `"symbol":`), v.Symbol)
//		b = check.AppendInt(check.Member(b, `"quantity":`), v.Quantity)
//		b = check.AppendOptional(b, `"note":`, v.Note, check.AppendString)
//		return append(b, '}')
//	}
//
// Between Object or Next and the following Next, generated code takes exactly one value; the same between Array and
// Item. After a violation the value is consumed all the same and decoding goes on; after malformed JSON or a limit
// every method returns at once and every loop ends: the decoder drops its input, so generated code needs no error check.
//
// Fields carry their JSON names as tags. Where encoding/json would not write what the encoder writes (other properties,
// constants, a nil list that is required), or would not read all of it back (unions, defaults), the type has methods:
//
//	func (v Order) MarshalJSON() ([]byte, error) { return appendOrder(nil, &v), nil }
//
//	func (v *Order) UnmarshalJSON(b []byte) error { return check.Unmarshal(b, decodeOrder, v) }
//
// # Words of this package
//
//	data, full      what is still to be read, nothing after an error; all of the text, for what is looked up in it
//	take            to read a value and go past it; to skip is to take without keeping
//	rule, table     a struct in generated code that describes a schema (rule.go); other tables are derived from it on first use
//	At              where in the schema a rule is, as a fragment (#/properties/a)
//	frame           an open object or array: what is known of it so far, and the path to the current value
//	member, item    what an object has, and what an array has; additional members are those that the rule does not name
//	signature       eight bytes that distinguish names of members; the signature of a name of up to seven bytes is unique
//	plain, hard     of strings: plain is ASCII without escapes, hard any other. A plain number has neither fraction nor exponent
//	window, place   64 bytes whose UTF-8 is checked at once, and the bit that stands for one of them
//	form            one subschema of a union (anyOf, oneOf, or type with several kinds); its tag is the value of one member that alone selects it.
//	                The generator calls it a branch, and calls form what distinguishes a branch
//	kind            the JSON type of a value, or several of them
//	glance          a look at an object that validates nothing, because the object is read afterwards
//	kind key        of a union whose forms neither a tag nor required members distinguish: a member that all forms require, whose kind excludes the
//	                forms that do not allow it, since these can not fit. What is left is attempted
//	attempt         reading a value as a likely form, before a trial begins: a form that a member indicates, because no other
//	                form needs that member, the only one that the kind key leaves, or the next of an anyOf
//	misled          how often choosing a form by a member cost another reading or look
//	trial           reading a value as one form after another, where several are possible. Flags of the Decoder say how a form is read. quiet: the form is
//	                on trial, and its first violation ends it; counting: violations are counted, not described, and all of a value in a
//	                Once or a union count as one; listing: the best form is read again to list its violations
//	heading         the violation that says that no form of a union fits; those of its best form follow
//	partial         of a form: it fits, but a part of it was skipped because the memo knew that the part fits
//	condition       a keyword that gives no Go type, such as not: it looks at a value that is taken afterwards
//	lookahead       a reading that goes back to where it began
//	outcome, memo   what validating a value against a schema gave, and where that is remembered; a Once identifies the schema there
//	unread          of a value: validated, but not kept, so nothing is allocated for it unless a rule looks at it
//	literal         a number that is kept as it was written; package model calls it Decimal, encoding/json Number
//	mark            where an escape of a long string is, remembered for writing the text as a string
//	overflow        a number, date-time or duration that its schema allows and its Go type can not hold
//	broken, listed  violations that were found, and those of them that are described
//	canonical form  the text that all spellings of a value share
//	decoded         memory that values take beyond their text; an Account is charged for it
//
// # What is refused
//
// Valid and Skip accept exactly what encoding/json accepts, except what LimitError names. A repeated key is a violation
// in a Decoder, because a model can mend it, and a LimitError from Valid. Integers are int64; a number that int64 or float64
// can not hold is a violation of type where it is kept, and nowhere else: which form of a union fits does not depend on it.
// A number that float64 rounds is validated as it is written, and kept as it is rounded: 1e-400 is greater than an exclusiveMinimum of 0, and a handler
// gets 0. A Literal holds any number.
//
// # What is found
//
// Violations depend on what a text means, not on how it is written (LET14): they are sorted by their instances, a value is shown with its
// members in one order and each number in one spelling, and where not all are listed, or a union lists those of its best form, the text is read once
// more in its canonical form. Only refused texts pay for that. After a violation, further items of a list are unread, so they do not count
// as decoded. Where a text both breaks a rule and is too large, the order of its members may therefore decide which of the two it is refused for.
//
// # Where the time goes
//
// The floor is looking at each byte once: 79 bytes of the small input of testdata/bench (5 fields, enum, bounds, pattern) are
// ten words, 80 instructions. A decoder written by hand for that schema alone, without paths, limits, escapes and repeated
// keys, takes 2,150 instructions; this one takes 2,600 (callgrind), of which
//
//	23 %  strings: finding their ends, copying them, lengths and the pattern
//	22 %  keys: a name that is expected next costs 95, any other 150
//	13 %  the two numbers
//	13 %  the pool, and what begins and ends a text
//	12 %  one allocation: the value
//	 6 %  opening and closing the object, required members
//	 6 %  the enum
//	 4 %  the loop of generated code; the rest is calls between them
//
// What it takes more is mostly calls: the decoder by hand keeps its position in a register, this one passes it from method to method.
// A third of the time goes to the allocator and the garbage collector, which is why strings share allocations, also
// with those of earlier texts, and why a list grows by what the rest of the text may hold.
//
// A message is scanned once by rpc.ParseInto, which validates all of it and reads its params in the same pass, see Within: measured, half
// of what parsing and then reading took. Arguments are skipped there, and decoded when their tool is called.
//
// # Rejected
//
//   - A switch on the key's text in generated code: as fast, but then required, repeated and null members need a line
//     each, and a path needs another.
//   - Expecting the names in the order of the table: that is alphabetical, while members come in the schema's order or the
//     sender's. So the first two orders seen decide what is expected after each name: learning from every text
//     would have clients with different orders write to the table all the time.
//   - A closure per field, or a table of field offsets with unsafe: the first costs start-up time, the second the
//     compiler's checks.
//   - Pointers for optional scalars: an allocation each, and nil dereferences. Optional tells missing from zero, too.
//   - One copy of the whole text that all strings share: fewer copies, but one string keeps 200 kB alive.
//   - One copy of the last 256 bytes of a text: fewer instructions for many strings, but strings that are kept are the smaller part of a small text.
//   - A method for each step of Skip: slower by half, because the position goes through memory.
//   - Listing every form's violations in a trial: unreadable for a model, and most of the time spent on describing them.
//   - Sizing slices by what is left of the text: a hostile text of short lists takes a thousand times its size.
//   - Allocating values behind pointers several at a time: measured on lists of unions, half the allocations and no time.
//   - Looking for quotes and escapes in the loop that checks UTF-8: as many instructions, because their constants do not fit into registers.
//
// # Conditions
//
// Keywords that give no Go type (not, if, dependentRequired, dependentSchemas, propertyNames, patternProperties, contains,
// unevaluatedProperties, unevaluatedItems) are functions that look at a value before its decoder takes it, with Also or
// Fits; samplecondition_test.go has one of each. What a text costs is bounded by its length and the schema: the outcomes of unions
// within unions, and of validators that several others call (Once), are remembered by the place of the value, and so is where
// long values end. The memo is bounded by the length of the text. When it is full it is emptied, and from then on what is
// tried and read again counts against Limits.Evaluations.
//
// Which members were evaluated is recorded as a bit each, by their order in the text. Only schemas with an unevaluated keyword
// need that; for them generated code has functions beside the validators, which look again at what these have seen. Rejected:
// recording while validating, which would make every decoder pay, and every trial take back what it recorded.
package check
