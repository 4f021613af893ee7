// The program that a batch compiles: it decodes, checks and encodes with the generated code beside it. A line in is the
// number of a schema, a blank and an instance; a line out is an answer as JSON.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// answer mirrors Answer of package proof.
type answer struct {
	Invalid  string
	Refused  string
	Out      string
	Unstable string
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
			if err := check.Decode(out, check.Limits{}, decode, &w); err != nil {
				a.Unstable = "what was written is not read again: " + err.Error()
			} else if again := encode(nil, &w); !bytes.Equal(again, out) {
				a.Unstable = "written the second time: " + string(again)
			}
		}
		return a
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
