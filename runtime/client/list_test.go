package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Cursors that come again are a list without an end.
func TestVAL07ListsThatNeverEnd(t *testing.T) {
	s, p := meet(t, "2025-11-25")
	ended := make(chan error, 1)
	go func() {
		for _, err := range s.ListPrompts(t.Context()) {
			if err != nil {
				ended <- err
			}
		}
	}()
	for i := range 3 {
		p.answer(p.expect("prompts/list"), fmt.Sprintf(`{"prompts":[],"nextCursor":"%d"}`, i%2))
	}
	err := <-ended
	var bad *client.ProtocolError
	if !errors.As(err, &bad) {
		t.Fatalf("%v", err)
	}
	has(t, err.Error(), "cursor")
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		got := make(chan string, 10)
		go func() {
			for item, err := range s.ListPrompts(context.Background()) {
				if err != nil {
					got <- err.Error()
				}
				got <- string(item)
			}
			close(got)
		}()
		m := p.expect("prompts/list")
		p.answer(m, `{"prompts":[{"name":"a"}],"nextCursor":""}`)
		m = p.expect("prompts/list")
		has(t, string(m.Params), `"cursor":""`)
		p.answer(m, `{"prompts":[{"name":"b"}]}`)
		var all []string
		for item := range got {
			all = append(all, item)
		}
		if !slices.Equal(all, []string{`{"name":"a"}`, `{"name":"b"}`}) {
			t.Errorf("%q", all)
		}
	})
}

func TestListsAreKeptAsLongAsTheServerSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28")
		asked := make(chan struct{}, 10)
		go func() {
			for {
				frame, err := p.conn.ReadFrame(nil)
				if err != nil {
					return
				}
				var m message
				switch _ = json.Unmarshal(frame, &m); m.Method {
				case "subscriptions/listen":
					p.send(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, m.ID)
				case "tools/list":
					asked <- struct{}{}
					p.answer(m, `{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object"}}],"ttlMs":1000,"cacheScope":"private"}`)
				}
			}
		}()
		if _, err := s.Listen(t.Context(), client.Filter{Tools: true}); err != nil {
			t.Fatal(err)
		}
		list := func(want int) {
			t.Helper()
			n := 0
			for _, err := range s.ListTools(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if len(asked) != want || n != 1 {
				t.Errorf("asked %d times, want %d; %d tools", len(asked), want, n)
			}
		}
		list(1)
		list(1)
		<-time.After(999 * time.Millisecond)
		list(1)
		<-time.After(time.Millisecond)
		list(2)
		p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		synctest.Wait()
		list(3)
		_ = p.conn.Close()
	})
}

// A tool that is not listed any more is not remembered either.
func TestAToolThatIsGoneIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		for _, c := range []struct {
			list  string
			tasks bool
		}{
			{`{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`, true},
			{`{"tools":[{"name":"y","inputSchema":{"type":"object"}}]}`, false},
		} {
			go func() { p.answer(p.expect("tools/list"), c.list) }()
			listTools(t, s)
			done := start(t.Context(), s, "x")
			m := p.expect("tools/call")
			if asks := strings.Contains(m.raw, `"task":{}`); asks != c.tasks {
				t.Errorf("%s after %s", m.raw, c.list)
			}
			p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no"}}`, m.ID)
			<-done
		}
	})
}

// A list is kept as long as the server says of each page, from when that came, however long its reader takes.
func TestAListIsKeptNoLongerThanItsPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28")
		asked := 0
		go p.each(func(m message) {
			asked++
			p.answer(m, `{"resultType":"complete","ttlMs":500,"cacheScope":"private","tools":[{"name":"a","inputSchema":{"type":"object"}}]}`)
		})
		for range 2 {
			for range s.ListTools(t.Context()) {
				time.Sleep(600 * time.Millisecond) // of the bubble's clock
			}
		}
		if synctest.Wait(); asked != 2 {
			t.Errorf("the list was read %d times", asked)
		}
	})
}

// listed are the members of all lists that a session reads.
var listed = []string{"tools", "prompts", "resources", "resourceTemplates", "tasks"}

// item is one of any list.
func item(name string) string {
	return `{"name":"` + name + `","uri":"","uriTemplate":"","inputSchema":{}}`
}

// lists returns the methods that read them.
func lists(s *client.Session) map[string]func(context.Context, ...client.CallOption) iter.Seq2[json.RawMessage, error] {
	return map[string]func(context.Context, ...client.CallOption) iter.Seq2[json.RawMessage, error]{
		"tools": s.ListTools, "prompts": s.ListPrompts, "resources": s.ListResources, "resourceTemplates": s.ListTemplates, "tasks": s.ListTasks,
	}
}

// pageAfterPage answers each request after a while with a page that is not the last.
func (p *peer) pageAfterPage(member, item string, each time.Duration) {
	for n := 0; ; n++ {
		frame, err := p.conn.ReadFrame(nil)
		if err != nil {
			return
		}
		var m message
		_ = json.Unmarshal(frame, &m)
		if m.ID != nil {
			<-time.After(each)
			p.answer(m, fmt.Sprintf(`{"resultType":"complete","%s":[%s],"nextCursor":"%d","ttlMs":1000,"cacheScope":"private"}`, member, item, n))
		}
	}
}

// endlessList reads a list whose pages never end, and returns how many items it yielded before its error.
func endlessList(t *testing.T, revision, member, item string, each time.Duration, opts ...client.Option) (items int, err error) {
	t.Helper()
	s, p := meetOffering(t, revision, `{"tools":{},"prompts":{},"resources":{},"tasks":{"list":{}}}`, opts...)
	served := make(chan struct{})
	go func() { defer close(served); p.pageAfterPage(member, item, each) }()
	for _, err = range lists(s)[member](t.Context()) {
		if err != nil {
			break
		}
		items++
	}
	<-time.After(each) // for the answer that comes too late
	_ = p.conn.Close()
	<-served
	return items, err
}

// A list whose pages have a new cursor each ends at its size in all, small items with what they take in memory.
func TestVAL07ListsAreBoundedInAllTheirPages(t *testing.T) {
	const page, limit = 1000, 4000
	for _, member := range listed {
		small := item("")
		for item, most := range map[string]int{item(strings.Repeat("a", page-100)): 4, small: limit / (len(small) + 32)} {
			synctest.Test(t, func(t *testing.T) {
				items, err := endlessList(t, "2025-11-25", member, item, 0, client.WithMaxFrame(page))
				var bad *client.ProtocolError
				if !errors.As(err, &bad) || items == 0 || items > most {
					t.Fatalf("%s: %d items, %v", member, items, err)
				}
				has(t, err.Error(), "the list is larger than 4000 bytes", "WithMaxFrame")
			})
		}
	}
}

// The maximum of a call is that of a list with all its pages, however fast each comes.
func TestCAN16AListEndsInTheTimeOfACall(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for _, member := range listed {
			if member == "tasks" && revision == "2026-07-28" {
				continue // it has no such list
			}
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				items, err := endlessList(t, revision, member, item("a"), 59*time.Second, client.WithTimeout(time.Minute, 5*time.Minute))
				var cause *client.Cause
				if !errors.As(err, &cause) || cause.Source.String() != "timeout" || items != 5 || time.Since(begun) != 5*time.Minute+59*time.Second {
					t.Errorf("%s %s: %d items in %v, %v", revision, member, items, time.Since(begun), err)
				}
				has(t, err.Error(), "not done after 5m0s in 6 requests")
			})
		}
	}
}

// An item of a list that lacks what every revision requires of it is left out with one warning, and the rest of the list stays.
func TestEXT21AnItemThatIsNoneIsLeftOut(t *testing.T) {
	for member, c := range map[string]struct {
		good []string
		bad  map[string]string // and why, with the name if there is one
	}{
		"tools": {[]string{`{"name":"a","inputSchema":{}}`, `{"name":"","inputSchema":{"type":"object"},"new":5}`}, map[string]string{
			`{"inputSchema":{}}`:              "its name is missing",
			`{"name":"b"}`:                    "name=b error=\"its inputSchema is missing",
			`{"name":"b","inputSchema":null}`: "name=b error=\"its inputSchema is no object: null",
			`{"name":"b","inputSchema":true}`: "name=b error=\"its inputSchema is no object: true",
			`{"name":5,"inputSchema":{}}`:     "its name is no string: 5",
			`{"Name":"b","inputSchema":{}}`:   "its name is missing",
			`null`:                            "it is no object: null",
			`[]`:                              "it is no object: []",
			`{"name":"` + strings.Repeat("b", 1000) + `"}`: "name=" + strings.Repeat("b", 128) + "… error=\"its inputSchema is missing",
		}},
		"prompts":           {[]string{`{"name":"a"}`}, map[string]string{`{"title":"x"}`: "its name is missing", `{"name":{}}`: "its name is no string: {}"}},
		"resources":         {[]string{`{"uri":"a:b","name":"a"}`}, map[string]string{`{"name":"b"}`: "name=b error=\"its uri is missing", `{"uri":"a:b"}`: "its name is missing"}},
		"resourceTemplates": {[]string{`{"uriTemplate":"a:{b}","name":"a"}`}, map[string]string{`{"uri":"a:b","name":"b"}`: "name=b error=\"its uriTemplate is missing", `{"uriTemplate":"a:b","name":null}`: "its name is no string: null"}},
	} {
		for bad, why := range c.bad {
			var log record
			s, p := meet(t, "2026-07-28", log.option())
			var got []string
			go func() {
				page := `{"resultType":"complete","` + member + `":[` + strings.Join(c.good, ",")
				for _, page := range []string{page + `],"nextCursor":"2"`, page + `,` + bad + `,` + strings.Join(c.good, ",") + `]`} {
					p.answer(p.next(), page+`,"ttlMs":1000,"cacheScope":"private"}`)
				}
			}()
			for range 2 { // then they are cached
				got = nil
				for item, err := range lists(s)[member](t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, string(item))
				}
			}
			if !slices.Equal(got, slices.Repeat(c.good, 3)) || strings.Count(log.String(), "was left out") != 1 {
				t.Errorf("%s: %q, %s", bad, got, &log)
			}
			has(t, log.String(), fmt.Sprintf("index=%d ", 2*len(c.good)), why)
		}
	}
}

// TestEXT21AToolWhoseInputIsNoObjectIsLeftOut, since arguments always are one. A schema that does not say so is taken to be of an object.
func TestEXT21AToolWhoseInputIsNoObjectIsLeftOut(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, p := meet(t, revision)
		go func() {
			p.answer(p.expect("tools/list"), `{"tools":[{"name":"a","inputSchema":{"type":"string"}},{"name":"b","inputSchema":{"type":["object","null"]}},{"name":"c","inputSchema":{"type":5}},
				{"name":"d","inputSchema":{"type":"object"}},{"name":"e","inputSchema":{}}]}`)
		}()
		var listed []string
		for tool, err := range s.ListTools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, string(tool[9]))
		}
		if got := strings.Join(listed, ""); got != "de" {
			t.Errorf("%s: %q are listed", revision, got)
		}
	})
}
