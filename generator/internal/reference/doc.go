// Package reference writes what a server is for those who call it: a page with a section for each tool, prompt, resource and method of its own,
// with tables of what it takes and gives, an example, limits, and what cancelling does. It is for package generator.
//
//	page.go       a page: headings, paragraphs, tables, code, diagrams
//	server.go     Make: the page of a manifest, section by section
//	tool.go       the section of a tool
//	entry.go      those of prompts, resources and methods
//	table.go      what a schema allows, as rows of a table
//	kind.go       what values a schema allows, in a few words
//	protocol.go   how tasks, questions and cancellation travel, by revision, with their diagrams
//	markdown.go   a page as Markdown, its diagrams as Mermaid
//	html.go       a page as one HTML file without scripts
//	svg.go        its diagrams
//
// What the manifest says is text of others: it stands in a Span or in Code, and the two writers see to it that it is read as text. Links lead
// within the page, or to a web page that the server names.
package reference
