package server

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Block is one block of a tool result's content, for Call.Content and ToolError. Text, Image, Audio, TextResource, BlobResource and Link make one;
// its methods return a copy with one more property. A block is a value: it can be kept, and sent any number of times.
//
// A block can be sent in every revision. In a revision without such blocks a text takes its place: of a link the title and address, of others what is
// missing. Properties that a revision lacks are left out.
//
// A block that breaks a rule of the protocol, such as a URI without a scheme, makes the result an internal error; the server's log
// says why (LET01). The zero Block does, too.
type Block struct {
	kind        blockKind
	wire        wire.Block // without data, and without what depends on the revision
	data        []byte
	open        Opener // opens the data, or a resource's text, when it is sent; nil: it is here
	annotations wire.Annotations
	meta        []metaMember
	err         error // the first thing that is wrong with it
}

type blockKind uint8

const (
	noBlock blockKind = iota
	textBlock
	imageBlock
	audioBlock
	textResourceBlock
	blobResourceBlock
	linkBlock
)

// String is how errors, and the texts in place of a block, name the kind.
func (k blockKind) String() string {
	return [...]string{"zero Block", "text", "image", "audio", "resource", "resource", "link"}[k]
}

// Role is a recipient for whom a block is meant: the user, or the assistant, which is the model.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Text is a block of text.
func Text(text string) Block { return Block{kind: textBlock, wire: wire.Block{Text: text}} }

// Image is a picture of that media type, such as "image/png". The block keeps data, which must not change afterwards.
func Image(mimeType string, data []byte) Block {
	return Block{kind: imageBlock, data: data, wire: wire.Block{MIMEType: mimeType}}.checkMIME()
}

// Audio is a sound of that media type, such as "audio/wav". The block keeps data, which must not change afterwards.
func Audio(mimeType string, data []byte) Block {
	return Block{kind: audioBlock, data: data, wire: wire.Block{MIMEType: mimeType}}.checkMIME()
}

// TextResource is a resource with its text. The media type may be "". The URI is absolute, and need not be one of those that the server
// lists.
func TextResource(uri, mimeType, text string) Block {
	return Block{kind: textResourceBlock, wire: wire.Block{URI: uri, MIMEType: mimeType, Text: text}}.checkURI().checkMIME()
}

// BlobResource is a resource with its bytes, as TextResource is with its text. The block keeps data, which must not change afterwards.
func BlobResource(uri, mimeType string, data []byte) Block {
	return Block{kind: blobResourceBlock, data: data, wire: wire.Block{URI: uri, MIMEType: mimeType}}.checkURI().checkMIME()
}

// Link leads to a resource that the client can read. The URI is absolute; name is for programs, Title for people.
func Link(uri, name string) Block {
	b := Block{kind: linkBlock, wire: wire.Block{URI: uri, Name: name}}.checkURI()
	if name == "" {
		return b.fail("a link to %s needs a name", rpc.Cut(uri))
	}
	return b
}

// Title is what a link is called for people.
func (b Block) Title(title string) Block {
	b.wire.Title = title
	return b.linkOnly("Title")
}

// Description says what a link leads to.
func (b Block) Description(text string) Block {
	b.wire.Description = text
	return b.linkOnly("Description")
}

// MIMEType is the media type of what a link leads to. Other blocks have theirs from the beginning.
func (b Block) MIMEType(mimeType string) Block {
	b.wire.MIMEType = mimeType
	return b.linkOnly("MIMEType").checkMIME()
}

// Size is how many bytes the resource has that a link leads to.
func (b Block) Size(bytes int64) Block {
	b.wire.Size = strconv.AppendInt(nil, bytes, 10)
	if bytes < 0 {
		return b.fail("the size %d of a link is negative", bytes)
	}
	return b.linkOnly("Size")
}

// Audience says whom the block is for; without it, for everybody.
func (b Block) Audience(roles ...Role) Block {
	b.annotations.Audience = nil
	for _, r := range roles {
		if r != RoleUser && r != RoleAssistant {
			return b.fail("%q is no role: RoleUser and RoleAssistant are", r)
		}
		b.annotations.Audience = append(b.annotations.Audience, string(r))
	}
	return b
}

// Priority says how much the block matters, from 0 (can be left out) to 1 (is needed).
func (b Block) Priority(priority float64) Block {
	if !(0 <= priority && priority <= 1) {
		return b.fail("the priority %v is not between 0 and 1", priority)
	}
	b.annotations.Priority = check.AppendFloat(nil, priority)
	return b
}

// LastModified says when the content of the block was changed last.
func (b Block) LastModified(t time.Time) Block {
	b.annotations.LastModified = t.Format(time.RFC3339)
	return b
}

// Meta puts a value under a key of the block's _meta; encoding/json writes it. See Call.ResultMeta for keys: a key that the protocol defines is
// left out.
func (b Block) Meta(key string, value any) Block {
	meta, err := withMember(slices.Clone(b.meta), key, value)
	if err != nil {
		return b.fail("%w", err)
	}
	b.meta = meta
	return b
}

func (b Block) fail(format string, args ...any) Block {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
	return b
}

func (b Block) linkOnly(method string) Block {
	if b.kind != linkBlock {
		return b.fail("%s is of links, this is a block of kind %s", method, b.kind)
	}
	return b
}

func (b Block) checkURI() Block {
	if !format.URI.Match(b.wire.URI) {
		return b.fail("%q is no URI with a scheme", rpc.Cut(b.wire.URI))
	}
	return b
}

// checkMIME checks the media type by the rules of the protocol. Resources and links need not have one.
func (b Block) checkMIME() Block {
	mime := b.wire.MIMEType
	if mime == "" && b.kind != imageBlock && b.kind != audioBlock {
		return b
	}
	if err := checkMIME(mime); err != nil {
		return b.fail("%w", err)
	}
	return b
}

func checkMIME(mime string) error {
	kind, subtype, slash := strings.Cut(mime, "/")
	if !slash || kind == "" || strings.ContainsAny(kind, " \t\r\n\f\v;") || subtype == "" || strings.ContainsAny(subtype[:1], " \t\r\n\f\v/;") {
		return fmt.Errorf("%q is no media type such as image/png", rpc.Cut(mime))
	}
	return nil
}

// append appends the block in the revision's form, with a placeholder for data that is opened later.
func (b *Block) append(to []byte, rev *revision, placeholders *[]placeholder) []byte {
	write, c := rev.blockWriter(b.kind), b.wire
	annotated := b.annotations.Audience != nil || b.annotations.Priority != nil || b.annotations.LastModified != ""
	c.Meta = rev.encodeMeta(b.meta)
	if b.kind == textBlock && (write == nil || !annotated && c.Meta == nil) {
		return appendTextBlock(to, c.Text)
	}
	if write == nil {
		return appendTextBlock(to, missingBlock(rev.Version, b.kind.String(), &c))
	}
	if annotated && rev.AppendAnnotations != nil {
		c.Annotations = rev.AppendAnnotations(nil, &b.annotations)
	}
	switch b.kind {
	case textResourceBlock:
		c.Resource = b.appendResource(nil, rev, placeholders)
		return write(to, &c)
	case blobResourceBlock:
		c.Resource = rev.AppendBlobResource(nil, &wire.Block{URI: c.URI, MIMEType: c.MIMEType, Data: placeholderMark})
	case imageBlock, audioBlock:
		c.Data = placeholderMark
	default:
		return write(to, &c)
	}
	start := len(to)
	return b.fill(write(to, &c), start, placeholders)
}

// appendResource appends the contents of a block that is a resource.
func (b *Block) appendResource(to []byte, rev *revision, placeholders *[]placeholder) []byte {
	start, c := len(to), &wire.Block{URI: b.wire.URI, MIMEType: b.wire.MIMEType}
	switch {
	case b.kind == blobResourceBlock:
		c.Data = placeholderMark
		return b.fill(rev.AppendBlobResource(to, c), start, placeholders)
	case b.open != nil:
		c.Text = textPlace
		to = rev.AppendTextResource(to, c)
		i := start + bytes.Index(to[start:], textPlaced)
		*placeholders = append(*placeholders, placeholder{open: b.open, text: true})
		return slices.Replace(to, i, i+len(textPlaced), placeholderMark...)
	}
	c.Text = b.wire.Text
	return rev.AppendTextResource(to, c)
}

// placeholderMark stands for the data of a block while the rest is written. No JSON has a zero byte.
var placeholderMark = []byte{0}

// textPlace stands for the text of a resource that is opened later, while the block is written; textPlaced is its JSON. No URI and no media type has
// such a character.
var (
	textPlace  = "\x00"
	textPlaced = check.AppendString(nil, textPlace)
)

// fill puts the data, or its placeholder, into the block that begins at start.
func (b *Block) fill(to []byte, start int, placeholders *[]placeholder) []byte {
	i := bytes.IndexByte(to[start:], placeholderMark[0])
	if i < 0 {
		return to
	}
	if b.open != nil {
		*placeholders = append(*placeholders, placeholder{open: b.open})
		return to
	}
	after := slices.Clone(to[start+i+1:])
	to = base64.StdEncoding.AppendEncode(append(to[:start+i], '"'), b.data)
	return append(append(to, '"'), after...)
}

// size is about how many bytes the block takes.
func (b *Block) size() int {
	return base64.StdEncoding.EncodedLen(len(b.data)) + len(b.wire.Text) + 1<<8
}

// blockWriter returns the function that writes blocks of the kind, nil if the revision has none.
func (rev *revision) blockWriter(k blockKind) func([]byte, *wire.Block) []byte {
	switch {
	case k == textBlock:
		return rev.AppendTextBlock
	case k == imageBlock:
		return rev.AppendImageBlock
	case k == audioBlock:
		return rev.AppendAudioBlock
	case k == linkBlock:
		return rev.AppendLinkBlock
	case k == textResourceBlock && rev.AppendTextResource != nil, k == blobResourceBlock && rev.AppendBlobResource != nil:
		return rev.AppendResourceBlock
	}
	return nil
}
