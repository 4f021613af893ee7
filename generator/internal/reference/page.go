package reference

// Page is a whole reference.
type Page struct {
	Title  string
	Blocks []Block
}

// Block is a part of a page; blocks follow each other.
type Block interface{ block() }

// Heading begins a section. Links name its ID, or that of a Span.
type Heading struct {
	Level int // 2 for the parts of the page
	ID    string
	Text  Text
}

// Paragraph is running text.
type Paragraph struct{ Text Text }

// List is a list of points.
type List struct{ Items []Text }

// Table is a table with a head.
type Table struct {
	Head []string
	Rows [][]Text
}

// Code is a block of code.
type Code struct{ Language, Text string }

// Details are collapsed until the reader opens them.
type Details struct {
	Summary string
	Blocks  []Block
}

// Diagram is a picture.
type Diagram struct {
	Caption string
	Picture Picture
}

// Picture is a States or a Sequence.
type Picture interface{ picture() }

// States is a state diagram. The first state is the initial one.
type States struct {
	Names []string
	Edges []Edge
}

// Edge is a transition from one state to another.
type Edge struct{ From, To, Label string }

// Sequence is a sequence diagram: messages between two sides, the oldest first.
type Sequence struct {
	Left, Right string
	Steps       []Step
}

// Step is one message.
type Step struct {
	Back bool // from the right to the left
	Text string
}

// Text is a line of spans.
type Text []Span

// Span is a piece of text of one kind.
type Span struct {
	Text string
	Code bool
	Link string // an ID after #, or the address of a web page; empty for none
	ID   string // that links name; empty for none
}

func (Heading) block()   {}
func (Paragraph) block() {}
func (List) block()      {}
func (Table) block()     {}
func (Code) block()      {}
func (Details) block()   {}
func (Diagram) block()   {}

func (States) picture()   {}
func (Sequence) picture() {}

// text is s as a Text without code and links.
func text(s string) Text {
	if s == "" {
		return nil
	}
	return Text{{Text: s}}
}

// code is s as a Text of code alone.
func code(s string) Text { return Text{{Text: s, Code: true}} }

// join joins texts with a separator; empty ones are left out.
func join(separator string, parts ...Text) (all Text) {
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		if len(all) > 0 {
			all = append(all, Span{Text: separator})
		}
		all = append(all, p...)
	}
	return all
}
