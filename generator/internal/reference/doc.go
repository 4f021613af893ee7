// Package reference writes the documentation of a server for those who call it: a page with a section for each tool, prompt, resource and custom method,
// with tables of its params and results, an example, limits, and what cancelling does. Package generator uses it.
//
//	page.go       a page: headings, paragraphs, tables, code, diagrams
//	server.go     Make: the page of a manifest, section by section
//	tool.go       the section of a tool
//	entry.go      the sections of prompts, resources and methods
//	table.go      what a schema allows, as rows of a table
//	kind.go       what values a schema allows, in a few words
//	protocol.go   the messages of tasks, questions and cancellation, by revision, with their diagrams
//	markdown.go   a page as Markdown, its diagrams as Mermaid
//	html.go       a page as one HTML file without scripts
//	svg.go        its diagrams
//
// # Words of this package
//
//	entry     a tool, prompt, resource, resource template or custom method: what has a section of its own
//	question  an elicitation that the manifest declares
//	member    of a schema: a property, or an item of a list, that a row of a table describes
//	kind      what a schema allows, in the words of a table's second column: "string (date) or null", "list of object"
//
// Text of the manifest can be anything: it is always in a Span or in Code, and the two writers escape these so that nothing in it is markup. Links lead
// within the page, or to a web page that the server names.
package reference
