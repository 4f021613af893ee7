// Package proof compiles generated types and runs them in a child process, for the tests that compare generated code with something
// else: the official JSON Schema suite, the reference validator, the protocol's example messages. It is for those who change what a
// keyword generates, and want to know whether it still means what JSON Schema says.
// Ids such as VAL04 are rules; testdata/traceability/ledger.tsv lists them.
//
//	batch.go            many schemas become one package main, compiled once
//	blame.go            which schemas the compiler's errors are about
//	program.go          asks the running program about instances, thousands in one go
//	testdata/child.go   the program itself: it answers each line of its input with one line
//	reference_test.go   the validator that ours is compared with
//	suite_test.go       the official suite (VAL04); with the tag official the newest one and its optional parts
//	differential_test.go, schemas_test.go, instances_test.go, mutate_test.go, shrink_test.go
//	                    random schemas and instances against jsonschema/v5 (VAL05), and the round trip
//	findings_test.go    the disagreements that these tests found before: testdata/findings
//	subsume_test.go     verdicts of package subsume against jsonschema/v5 (REV08): every keyword, edits of random schemas, random pairs
//	golden_test.go      the schemas of the emitter's goldens against jsonschema/v5, also by fuzzing
//	documents_test.go   the protocol's own documents and, with the tag official, its examples
//
// One process per batch and not one per schema: starting the compiler costs a hundred times what a schema costs. One
// package and not many for the same reason. A child process and not a plugin or an interpreter: the tests must run
// the code that users compile.
package proof
