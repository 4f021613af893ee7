// Package typing turns schemas into Go types and the rules that validate their values. It is for those who add a JSON Schema keyword
// or change which Go type a schema becomes. Begin with keyword.go, the table of all keywords: the functions in readkeyword.go make a shape of the
// keywords of a schema, and typing.go makes a type of the shape. Ids such as VAL06 are rules; testdata/traceability/ledger.tsv lists them.
//
// A schema goes through four steps, each with its file:
//
//	keyword.go   what each keyword means: the table that a new keyword needs a row in
//	merge.go     several schemas for one place are one shape; narrow.go drops the branches that nothing satisfies
//	typing.go    a shape becomes a type
//	types.go     Lower, which does this for one root, and Finish, which decides what depends on all types
//
// The others:
//
//	read.go readkeyword.go                           a schema's keywords, read into shapes
//	follow.go conjunction.go scope.go                 $ref, allOf and dynamic scopes, down to shapes
//	shape.go anyjson.go format.go                    what is known of a place
//	number.go numberset.go                           exact numbers; which of them a schema allows, so which Go type holds them
//	object.go tuple.go scalar.go gotype.go           types of one kind
//	union.go branch.go form.go unionname.go          types of several kinds, and how their forms are distinguished
//	check.go condition.go pattern.go unevaluated.go  keywords that no Go type can express
//	requirement.go requirementkind.go                what conditions demand, in words
//	storage.go flow.go literal.go                    how a value is stored; what is sent or received; defaults as literals
//	typename.go chosen.go rulename.go                names of types, fields and tables
//	share.go                                         types of the same meaning
//	once.go cycle.go                                 recursion: validators that cache their outcomes, structs that contain themselves
//	marshal.go hide.go                               what encoding/json needs, and what its errors must not show
//	reachability.go text.go                          which functions are called; text in raw strings
//	schemalocation.go                                the location of a rule in its schema, for messages
//
// # Words of this package
//
//	to lower       to make the model of something: of a schema, its declarations
//	root           a schema that has a type of its own whatever it says: the input of a tool, for example
//	allOf          the schemas that a value has to satisfy all at once, often one; a conjunction is the same thing
//	kind           what JSON Schema calls the type of a value: string, number and so on (model.Kind)
//	shape, facet   what an allOf says, keyword by keyword; the part of it that is about strings, numbers, arrays or objects. The field at of
//	               these, and of a group or condition, is the schema that has the keywords
//	pattern set    the patternProperties of one schema of an allOf, and the additionalProperties beside them
//	group, branch  an anyOf or oneOf; one of its schemas. A union is the Go interface that a group, or a list of kinds, becomes
//	condition      a keyword that no Go type can express; a check, or assertion in the model, is what is validated beside the type
//	place          where in the value of a root another value is, and what is decided there for its type: the name (its hint; item
//	               for its elements), for example; types.go has all
//	presence       whether a value is required, optional, nullable or both; null is taken out of a shape before its type is decided
//	form           what tells a branch of a union from the others: kinds, members that it requires, texts of one member (model.Form). If nothing of
//	               that does, the kind of a member may (kindKey): a branch that does not allow it can not fit.
//	               Package check calls the branch itself a form
//	member         of a union: a Go type that implements it, of a branch or of one of its kinds; of an object: a property that a value has
//	declaration    a Go type, or a validator, with its functions (model.Decl). It claims a name: it gets that name unless another has it
//	to share       to make a declaration an alias of another one of the same meaning (share.go)
//	rule           what the runtime checks of one place, an element of a table in generated code; a rule without keywords is left out. It has the
//	               location of its schema for messages (ruleAt) only where that is not the location of the place, which the runtime knows
//	own            of one schema alone, without those beside it in an allOf
//	way            the schema resources that were entered on the way to a schema; an anchor that several of them have is ambiguous
//	unconstrained  of a shape: it has no keyword that could refuse a value. A schema is any JSON if it allows every value, but lists the kinds (anyjson.go)
//	goType         a keyword of manifests: a name for the type that is made of the schema (chosen.go), or a Go type to use, such as time.Time
//	               (gotype.go). goName is a name for the field of a property
//	finding        a diagnostic about a schema
//
// # Names
//
// The name of a type follows from its place alone: the name of the tool, then the properties on the way. The elements of a list or a map are
// named by the singular (rows of QueryRowsOutput are QueryRowsOutputRow), unless a property beside it has that name for a type of its own
// (then QueryRowsOutputRowsItem); a word that the name ends with is not repeated. Members of a union are named by what only they have: title,
// tag, kind, a property that is required. So adding a tool, a schema or a property elsewhere renames nothing.
//
// A name that several claim goes to the first of these (typename.go): what does not come from schemas (Names.Take, before any schema), schemas for
// which goType chooses the name (Types.Choose), inputs and outputs of tools and the protocol's types, schemas that others refer to, then the rest in the
// order of tools and properties. The others get a longer name, or as the last resort a suffix that follows from their place. That can not be
// avoided: Go names have no separators, so two places can spell the same name (a tool get with a property order_id, and a tool get_order with an id), and
// a new tool or property that comes first takes it from the other. If that were an error, there would be no types for many published schemas.
//
// Properties of one object, and values of one enum, that would have the same Go name are told apart by their symbols (_meta beside meta is
// UnderscoreMeta) or by a suffix from their own text, not by number (naming.Distinct). So a property that is added can rename another one that
// had the plain name until then. A property row with a type of its own, added beside rows, renames the type of the elements of rows.
//
// Types of the same meaning are declared once, with an alias for each other place (share.go). One shorter name for all of them (EmailAddress for every
// tool) was rejected: another type would get that name as soon as its shape claims it, and users' code contains these names.
//
// # Schemas
//
// Each place has an allOf: the schemas that a value there must satisfy, usually one. A reader (read.go) reads their keywords, follows
// $ref and allOf, and merges everything into one shape; the merge is exact, and what can not be merged (a second
// pattern) becomes a check beside the type. typing.go then asks which kinds are left: one kind becomes a Go type, null
// beside it a presence, two or three kinds a sealed interface, more become check.Raw with a validator by kind. The
// validator is exact, and the Go type as near to it as Go allows: an anyOf that a Go type can not express is a validator that reads the same
// bytes, and the type follows from the rest of the schema.
//
// Recursion ends because every $ref target and every allOf is lowered once (Types.declared, lowered, checks, validators). What
// depends on all types waits for Finish: how a value is stored, pointers that break cycles, defaults as literals,
// names of rule tables, and which functions are called at all.
//
// Additional properties of an object are dropped where the schema says nothing about them. They are kept with
// additionalProperties true or a schema, in protocol documents, and wherever a check of the whole value might look at
// them, so that what is encoded again is still valid.
//
// An enum is a string type with constants; where it has numbers or booleans beside strings, the constants are JSON texts. A
// required const has no field, an enum of one value has one: the handler compiles when an enum becomes shorter.
//
// A default is applied to what is received: the field has the plain type and is never absent. A result must be able to leave the
// property out (a oneOf may require another one instead), so there the field is optional and the default is documentation. A type that is sent and
// received has the optional field, which decoding sets: with two types for one schema, users would have to convert between them.
//
// A tuple is a struct with a field for each item, named after its title or position. minItems says which are required; the items
// after them, if there may be any, are a list.
//
// goType, or defaults.goTypes of the manifest, asks for another Go type of a format or of numbers (gotype.go). What is valid still follows from
// the schema, but time.Duration refuses years and months, and time.Time the leap second after which the year 10000 begins. A value that is decoded and
// encoded means the same, but its text may differ: a leap second becomes the second after it, days and weeks become hours, a UUID has lower case
// letters. uniqueItems compares texts: two spellings of one value are two items, but are equal once encoded, which the
// check of an output refuses. A time.Duration is written in whole seconds, rounded,
// because format duration has no fraction. An error instead was rejected: a handler that returns time.Since would almost always break the schema at
// run time, for a precision that the format can not express.
//
// encoding/json does what the generated functions do, by the tags of the fields alone or, where those do not suffice, by
// methods that call the functions (marshal.go).
//
// A keyword that no Go type can express is a condition: a validator of its own that reads the same bytes before the type is
// read, one for each schema that has it. patternProperties is for
// names that "properties" does not list: with one pattern and nothing else allowed it is a map of its type, otherwise
// such properties are kept as JSON. unevaluatedProperties is additionalProperties wherever the names that are mentioned do
// not depend on the value (allOf, $ref); elsewhere generated functions record them at run time.
//
// Where a $dynamicRef leads is decided here: a schema resource is copied for each way to it that makes a difference, and in a
// copy the $dynamicRef has one target, as a $ref has. Decoders know nothing of dynamic scopes, because every way is known here. Keywords of the other
// draft have no effect, with a warning. A $ref to the draft's own meta-schema is a condition, too: a value that must be a schema is
// kept as JSON. Before this package sees a $ref to a file, package schema has turned it into a reference to a shared
// schema; a $ref to any other document is an error (VAL06).
//
// To add a keyword, beside a golden in ../emit/testdata/golden that has it: the form of its value in schema/keyword.go; a row in keyword.go with
// a function in readkeyword.go, which fills a field of a facet in shape.go, merged in merge.go; and its rule or condition: a field of the rule in ../model and
// runtime/check, which ../emit/rules.go or ../emit/discard.go prints, or a condition in condition.go with a body in ../model/condition.go, its function in
// ../emit/condition.go and what it calls in runtime/check. Where it matters, its name goes into the tables of others, too:
//
//	what lint says of it          schema/idle.go: the kinds that it is about, its companions; schema/impossible.go, schema/overlap.go
//	what a sample has to satisfy  schema/sample.go, schema/example.go
//	what mcpkiln diff says of it  ../subsume/keyword.go, ../subsume/same.go
//	where a subset is allowed     schema/manifest/prompt.go: arguments of prompts
//	what import suggests          generator/importer/suggest.go
//
// # Rejected
//
//   - Pointers for optional scalars: an allocation each, and a nil dereference wherever a test is missing. storage.go.
//   - Fields in the order of the source: moving a property there would move lines of generated code and the bits of
//     tables. They are sorted by name.
//   - Unions decoded by the first member whose required keys are there: wrong as soon as two fit. Kinds, constant properties and
//     required keys only exclude members (form.go); when more than one is left, those are tried.
//   - Dynamic scopes kept by the decoder: each validator would pass them on, for a keyword that one schema in thousands has.
//   - Conditions in the rule tables of types: a table would hold functions, which use tables, and Go refuses such initialization cycles.
package typing
