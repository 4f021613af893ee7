// The program that a batch compiles: it decodes, checks and encodes with the generated code beside it. A line in is the
// number of a schema, a blank and an instance; a line out is an answer as JSON.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// answer mirrors Answer of package proof.
type answer struct {
	Invalid  string
	Refused  string
	Out      string
	Unstable string
	JSON     string
}

func run[T any](decode func(*check.Decoder, *T), encode func([]byte, *T) []byte) func([]byte) answer {
	return func(data []byte) (a answer) {
		var v, w T
		var violations check.Violations
		err := check.Decode(data, check.Limits{}, decode, &v)
		switch {
		case errors.As(err, &violations):
			a.Invalid = err.Error()
		case err != nil:
			a.Refused = err.Error()
		default:
			out := encode(nil, &v)
			a.Out = string(out)
			a.JSON = cmp.Or(differs(v, decode, encode, true), differs(w, decode, encode, false)) // w is the zero value still
			if err := check.Decode(out, check.Limits{}, decode, &w); err != nil {
				a.Unstable = "what was written is not read again: " + err.Error()
			} else if again := encode(nil, &w); !bytes.Equal(again, out) {
				a.Unstable = "written the second time: " + string(again)
			}
		}
		return a
	}
}

// differs holds encoding/json against the encoder: what json.Marshal writes is the same, and json.Unmarshal reads
// back what was decoded: in others a default may be missing.
func differs[T any](v T, decode func(*check.Decoder, *T), encode func([]byte, *T) []byte, back bool) string {
	var compact, got bytes.Buffer
	if json.Compact(&compact, encode(nil, &v)) != nil {
		return "" // NaN, or what is no JSON in a Raw
	}
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "json.Marshal: " + err.Error()
	}
	want, marshaled := alike(compact.Bytes()), alike(got.Bytes())
	if want != marshaled {
		return "json.Marshal: " + got.String() + "encoder: " + compact.String()
	}
	var read T
	if k := reflect.TypeFor[T]().Kind(); !back || k == reflect.Interface || k == reflect.Pointer {
		return "" // Go allows interfaces and types over pointers no methods
	}
	if err := json.Unmarshal(got.Bytes(), &read); err != nil {
		if check.Decode(compact.Bytes(), check.Limits{}, decode, &read) != nil {
			return "" // what float64 makes of a number may break a rule
		}
		return "json.Unmarshal of " + got.String() + ": " + err.Error()
	} else if again := alike(encode(nil, &read)); again != want {
		return "json.Unmarshal of " + got.String() + ": " + again
	}
	return ""
}

// alike is text with its escapes as encoding/json writes them, and the members of objects still in their order.
func alike(text []byte) string {
	var out []byte
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return string(out)
		}
		if s, ok := token.(string); ok {
			token = strconv.Quote(s)
		}
		out = fmt.Appendln(out, token)
	}
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		number, instance, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		i, err := strconv.Atoi(string(number))
		if err != nil {
			panic(err)
		}
		reply, err := json.Marshal(answerTo(i, instance))
		if err != nil {
			panic(err)
		}
		out.Write(append(reply, '\n'))
	}
	out.Flush()
}

// answerTo says which schema and instance a panic was about.
func answerTo(i int, instance []byte) answer {
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Sprintf("schema %d, instance %s: %v", i, instance, r))
		}
	}()
	return table[i](instance)
}
