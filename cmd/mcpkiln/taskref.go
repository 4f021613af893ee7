package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// task returns the reference of a task, and the transport to its server.
func (r *remote) task(cmd *cobra.Command, text string, name, command []string) (client.Ref, client.Transport, error) {
	stdin := cmd.InOrStdin()
	ref, err := interruptibly(cmd.Context(), func() (client.Ref, error) { return readRef(text, stdin) })
	if err != nil {
		return ref, nil, refused(err)
	}
	spec := r.spec()
	spec.Command = command
	switch {
	case len(command) > 0 && isAddress(ref.Endpoint):
		return ref, nil, refused(fmt.Errorf("the task is at %s, not at a server on a pipe: leave -- and the command out", plain.Line(ref.Endpoint)))
	case len(name) > 0:
		spec.Name = name[0]
	case len(command) == 0 && isAddress(ref.Endpoint):
		spec.Name = ref.Endpoint
	case len(command) == 0: // a reference may come from anybody: the command in it is not run
		return ref, nil, refused(fmt.Errorf("the task is at a server on a pipe: write -- and its command behind the reference, which says %q", ref.Endpoint))
	}
	if r.revision == "" {
		r.revision = ref.Revision
	}
	t, err := interruptibly(cmd.Context(), spec.Transport)
	r.server, r.entry = spec.ServerName(), entryOf(spec)
	return ref, t, refused(err)
}

// readRef reads a reference: JSON, a file with it, or the id of a task that is kept on this machine.
func readRef(text string, stdin io.Reader) (ref client.Ref, err error) {
	raw := []byte(text)
	switch {
	case text == "-", text == "@-":
		raw, err = io.ReadAll(io.LimitReader(stdin, 1<<20))
	case strings.HasPrefix(text, "@"):
		if raw, err = os.ReadFile(text[1:]); err != nil {
			err = fmt.Errorf("%s: %w", text, errors.Unwrap(err))
		}
	case !strings.HasPrefix(text, "{"):
		return keptRef(text)
	}
	if err != nil {
		return ref, err
	}
	var line struct {
		client.Ref
		Within client.Ref `json:"ref"` // of what mcpkiln prints with a reference in it: a question, a state
	}
	values := json.NewDecoder(bytes.NewReader(raw))
	for err = values.Decode(&line); err == nil && values.More(); { // further questions of the task
		err = values.Decode(new(json.RawMessage))
	}
	switch {
	case err == nil && line.ID != "":
		return line.Ref, whole(line.Ref)
	case err == nil && line.Within.ID != "":
		return line.Within, whole(line.Within)
	}
	return ref, errors.New("this is no reference\n  " + whatRef)
}

// whole returns an error for a reference that lacks a part. What other versions of it have is not known.
func whole(ref client.Ref) error {
	for part, value := range map[string]string{"endpoint": ref.Endpoint, "revision": ref.Revision} {
		if value == "" && ref.Version == refVersion {
			return fmt.Errorf("the reference has no %s: write all that was printed\n  %s", part, whatRef)
		}
	}
	return nil
}

// whatRef says what may stand for REF.
const whatRef = "REF is the line that mcpkiln call --detach prints, @FILE or - with one, or the id of a task that this machine keeps: mcpkiln task list TARGET has those of a server"

func keptRef(id string) (client.Ref, error) {
	shelf, err := keep.Open()
	if err != nil {
		return client.Ref{}, err
	}
	all, err := shelf.List(func(r client.Ref) bool { return r.ID == id })
	switch {
	case err != nil:
		return client.Ref{}, err
	case len(all) == 0 && isFile(id):
		return client.Ref{}, fmt.Errorf("%s is a file: write @%s", id, id)
	case len(all) == 0:
		return client.Ref{}, fmt.Errorf("%q is neither a reference nor the id of a task that this machine keeps\n  %s", id, whatRef)
	case len(all) > 1:
		var where []string
		for _, one := range all {
			where = append(where, plain.Line(one.Ref.Endpoint))
		}
		return client.Ref{}, fmt.Errorf("%q is the id of %d tasks kept here, at %s: write the reference of one, which mcpkiln task list prints for each server", id, len(all), strings.Join(where, " and "))
	}
	return all[0].Ref, nil
}

// keepRef keeps a reference of a task that the server keeps for ttl, if it says so, and returns a shell word for it.
func keepRef(ref client.Ref, ttl time.Duration) string {
	shelf, err := keep.Open()
	if err == nil {
		err = shelf.Put(ref, time.Now(), ttl)
	}
	if err != nil {
		return wholeRef(ref)
	}
	return refWord(shelf, ref)
}

// refWord returns a shell word for a reference: its id, or all of it if it is not the only one with the id that is kept, or a shell does not take it
// literally.
func refWord(shelf *keep.Shelf, ref client.Ref) string {
	all, err := shelf.List(func(r client.Ref) bool { return r.ID == ref.ID })
	if err != nil || len(all) != 1 || all[0].Ref.Endpoint != ref.Endpoint || !shellSafe().MatchString(ref.ID) {
		return wholeRef(ref)
	}
	return ref.ID
}

func wholeRef(ref client.Ref) string {
	text, _ := json.Marshal(ref) // a reference always has JSON
	return shellJSON(text)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// unknownHere says until when a reference is kept of a task that the server does not know; "" if it is not kept, or not any more.
func unknownHere(ref client.Ref) string {
	shelf, err := keep.Open()
	if err != nil {
		return ""
	}
	until, err := shelf.Unknown(ref, time.Now())
	if err != nil || until.IsZero() {
		return ""
	}
	return "\n  this machine keeps the reference until " + until.Local().Format(time.DateTime) + ", in case the task belongs to somebody else"
}

// drop forgets a kept reference: this command has seen the end of the task.
func drop(ref client.Ref) {
	if shelf, err := keep.Open(); err == nil {
		_ = shelf.Drop(ref) // what is left is kept for its time
	}
}
