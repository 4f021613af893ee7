package tasktest

import (
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var listChecks = []check{
	{"TSK16PagesHoldEveryTaskOnceInOrder", pagesHoldAll},
	{"TSK16PagesAreStableWhileTasksComeAndGo", pagesAreStable},
	{"TSK16ListLeavesPayloadsOut", listLeavesOut},
	{"TSK17BadCursorsAreRefused", badCursors},
}

// walk lists the owner's tasks in pages and calls between after each page but the last.
func (p *probe) walk(owner string, size int, between func(page int)) []string {
	p.Helper()
	var ids []string
	cursor := ""
	for page := 0; page < 1000; page++ {
		list, err := p.List(p.ctx, owner, cursor, size)
		p.must(err, "list")
		if len(list.Tasks) > size {
			p.Errorf("a page of %d holds %d", size, len(list.Tasks))
		}
		for _, t := range list.Tasks {
			ids = append(ids, t.ID)
		}
		if cursor = list.Next; cursor == "" {
			return ids
		}
		between(page)
	}
	p.Errorf("the list does not end")
	return ids
}

func pagesHoldAll(p *probe) {
	var want []string
	for range 300 {
		want = append(want, p.create(ada).ID)
		p.create(bob)
	}
	for _, size := range []int{1, 7, 299, 300, 301} {
		p.equal(p.walk(ada, size, func(int) {}), want, "all pages")
	}
	page, err := p.List(p.ctx, ada, "", 300)
	p.must(err, "list")
	p.equal(page.Next, "", "cursor after the last page, which is full")
	page, err = p.List(p.ctx, "nobody", "", 10)
	p.must(err, "list of nobody")
	p.equal([]any{len(page.Tasks), page.Next}, []any{0, ""}, "tasks of nobody")
}

// pagesAreStable removes tasks before and after the place where the walk is, the one it points to among them, and adds
// new ones.
func pagesAreStable(p *probe) {
	var stay []string
	for n := range 60 {
		if n%3 == 0 {
			stay = append(stay, p.create(ada).ID)
		} else {
			p.createWith(task.Task{Owner: ada, TTL: time.Duration(n%7+1) * time.Minute})
		}
	}
	seen := p.walk(ada, 4, func(page int) {
		if page < 7 {
			p.expireAll(time.Minute)
		}
		if page < 3 {
			stay = append(stay, p.create(ada).ID)
		}
	})
	times := map[string]int{}
	for _, id := range seen {
		times[id]++
	}
	for _, id := range stay {
		p.equal(times[id], 1, "times that the walk saw "+id)
	}
	for id, n := range times {
		if n > 1 {
			p.Errorf("the walk saw %s %d times", id, n)
		}
	}
}

func listLeavesOut(p *probe) {
	id := p.createWith(task.Task{Owner: ada, TTL: time.Hour, Args: []byte("{}")}).ID
	_, err := p.Finish(p.ctx, p.begin(id).Lease, task.Outcome{Status: task.Completed, Result: []byte("{}"), Kind: 3})
	p.must(err, "finish")
	page, err := p.List(p.ctx, ada, "", 10)
	p.must(err, "list")
	want := p.get(id)
	p.equal(want.Kind, uint8(3), "kind of the end")
	want.Args, want.Result, want.Error = nil, nil, nil
	p.equal(page.Tasks, []task.Task{want}, "listed tasks")
}

func badCursors(p *probe) {
	for range 5 {
		p.create(ada)
		p.create(bob)
	}
	page, err := p.List(p.ctx, ada, "", 2)
	p.must(err, "list")
	good := page.Next
	if good == "" {
		p.Errorf("no cursor although more tasks exist")
		p.FailNow()
	}
	_, err = p.List(p.ctx, bob, good, 2)
	p.refuses(err, task.ErrCursor, "another owner's cursor")
	for _, bad := range []string{
		"x", "nonsense", "0", good + "A", good[1:], good[:len(good)-1], " " + good, good + "\n",
		strings.Repeat("A", len(good)), strings.Repeat("A", 1<<16),
	} {
		_, err := p.List(p.ctx, ada, bad, 2)
		p.refuses(err, task.ErrCursor, "a bad cursor")
	}
	for i := range good {
		flipped := []byte(good)
		if flipped[i] ^= 1; flipped[i] == good[i]^1 {
			_, err := p.List(p.ctx, ada, string(flipped), 2)
			p.refuses(err, task.ErrCursor, "a changed cursor")
		}
	}
	_, err = p.List(p.ctx, ada, good, 2)
	p.must(err, "the good cursor")
}
