package client

import (
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// The members of a block of content, or of the resource in one, that some type of block requires.
const (
	blockType = iota
	blockText
	blockData
	blockMIMEType
	blockName
	blockURI
	blockResource
	blockBlob
	blockMembers
)

var blockObject = check.Object{
	Names:                []string{"type", "text", "data", "mimeType", "name", "uri", "resource", "blob"},
	AdditionalProperties: check.Skip,
}

// contentBlock has the values of its members, nil where there is none.
type contentBlock [blockMembers][]byte

func readBlock(d *check.Decoder) (b contentBlock) {
	for f := d.Object(&blockObject); f >= 0; f = d.Next() {
		b[f] = d.Alias(nil)
	}
	return b
}

// contentError returns where the content of a result breaks the schema of its blocks, nil for nowhere. What a type of block requires is the same in all
// revisions. A block of a type that none of them has is left to its reader: the tool has run, and a block of a later revision spoils no other.
func contentError(content []byte) error {
	if content[0] != '[' {
		return fmt.Errorf("its content is no list: %.80s", content)
	}
	d := check.GetScanned(content, check.Limits{})
	defer d.Put()
	n := 0
	for more := d.Array(nil); more; more = d.Item() {
		if d.Kind(nil) != check.KindObject {
			return fmt.Errorf("content[%d] is no object: %.80s", n, d.Alias(nil))
		}
		b := readBlock(d)
		if err := b.err(); err != nil {
			return fmt.Errorf("content[%d]%w", n, err)
		}
		n++
	}
	return d.Finish()
}

// err returns what is wrong with a block; the text is to follow the place of the block, such as content[3].
func (b *contentBlock) err() error {
	if err := b.strings(blockType); err != nil {
		return err
	}
	switch string(b[blockType]) {
	case `"text"`:
		return b.strings(blockText)
	case `"image"`, `"audio"`:
		return b.strings(blockData, blockMIMEType)
	case `"resource_link"`:
		return b.strings(blockName, blockURI)
	case `"resource"`:
		if err := resourceError(b[blockResource]); err != nil {
			return fmt.Errorf(".resource%w", err)
		}
	}
	return nil
}

// resourceError returns what is wrong with the resource in a block; the text is to follow its place, too.
func resourceError(resource []byte) error {
	switch {
	case resource == nil:
		return fmt.Errorf(" is missing")
	case resource[0] != '{':
		return fmt.Errorf(" is no object: %.80s", resource)
	}
	d := check.GetScanned(resource, check.Limits{})
	defer d.Put()
	r := readBlock(d)
	switch {
	case r[blockText] == nil && r[blockBlob] == nil:
		return fmt.Errorf(" has neither text nor blob")
	case r.strings(blockText) != nil && r.strings(blockBlob) != nil:
		return fmt.Errorf(" has no string as its text or blob")
	}
	return r.strings(blockURI)
}

// strings returns an error if one of the members is missing or no string.
func (b *contentBlock) strings(members ...int) error {
	for _, m := range members {
		switch value := b[m]; {
		case value == nil:
			return fmt.Errorf(".%s is missing", blockObject.Names[m])
		case value[0] != '"':
			return fmt.Errorf(".%s is no string: %.80s", blockObject.Names[m], value)
		}
	}
	return nil
}
