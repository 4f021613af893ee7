package tasktest

import (
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

var operatorChecks = []check{
	{"OperatorsSeeEveryTaskOnceInOrder", operatorsSeeAll},
	{"OperatorsPagesAreStableWhileTasksComeAndGo", operatorsPagesAreStable},
	{"OperatorsFilter", operatorsFilter},
	{"OperatorsCountByStatus", operatorsCount},
	{"OperatorsBadCursorsAreRefused", operatorsBadCursors},
	{"DUR03InterruptersTellOfCancels", interruptersTell},
}

// walkAll lists all tasks that match f in pages and calls between after each page but the last.
func (p *probe) walkAll(f task.Filter, size int, between func()) (all []task.Task) {
	p.Helper()
	for cursor, page := "", 0; page < 1000; page++ {
		list, err := p.ListAll(p.ctx, f, cursor, size)
		p.must(err, "list all")
		if len(list.Tasks) > size {
			p.Errorf("a page of %d holds %d", size, len(list.Tasks))
		}
		all = append(all, list.Tasks...)
		if cursor = list.Next; cursor == "" {
			return all
		}
		between()
	}
	p.Errorf("the list does not end")
	return all
}

func ids(tasks []task.Task) []string {
	list := make([]string, 0, len(tasks))
	for i := range tasks {
		list = append(list, tasks[i].ID)
	}
	return list
}

func operatorsSeeAll(p *probe) {
	p.equal(len(p.walkAll(task.Filter{}, 10, func() {})), 0, "tasks of an empty store")
	var want []string
	for range 40 {
		want = append(want, p.create(ada).ID, p.create(bob).ID, p.create("").ID)
	}
	for _, size := range []int{1, 7, 119, 120, 121} {
		p.equal(ids(p.walkAll(task.Filter{}, size, func() {})), want, "all pages")
	}
	l := p.begin(want[0]).Lease
	_, err := p.Finish(p.ctx, l, task.Outcome{Status: task.Failed, Result: []byte("{}"), Message: "why", Kind: 3})
	p.must(err, "finish")
	page, err := p.ListAll(p.ctx, task.Filter{}, "", 1)
	p.must(err, "list all")
	over := p.get(want[0])
	over.Args, over.Result, over.Error = nil, nil, nil
	p.equal(page.Tasks, []task.Task{over}, "listed task")
}

func operatorsPagesAreStable(p *probe) {
	var stay []string
	for n := range 30 {
		if n%3 == 0 {
			stay = append(stay, p.create(ada).ID)
		} else {
			p.createWith(task.Task{Owner: bob, TTL: time.Minute})
		}
		if n == 15 {
			p.wait(time.Second)
		}
	}
	gone := false
	seen := ids(p.walkAll(task.Filter{}, 4, func() {
		if !gone {
			p.expireAll(time.Minute)
			p.create(ada)
			gone = true
		}
	}))
	for _, id := range stay {
		n := 0
		for _, s := range seen {
			if s == id {
				n++
			}
		}
		p.equal(n, 1, "times that the walk saw "+id)
	}
}

func operatorsFilter(p *probe) {
	first := p.create(ada)
	p.wait(time.Second)
	ended := p.createWith(task.Task{Owner: bob, TTL: time.Hour})
	_, err := p.Cancel(p.ctx, bob, ended.ID, task.Cancel{Force: true})
	p.must(err, "cancel")
	p.wait(time.Second)
	l := p.begin(p.create(ada).ID).Lease
	_, err = p.Ask(p.ctx, l, question("q"))
	p.must(err, "ask")
	third := p.get(l.Task)
	for what, c := range map[string]struct {
		f    task.Filter
		want []string
	}{
		"owner":          {task.Filter{Owners: []string{ada}}, []string{first.ID, third.ID}},
		"two owners":     {task.Filter{Owners: []string{ada, bob}}, []string{first.ID, ended.ID, third.ID}},
		"nobody":         {task.Filter{Owners: []string{"", "ad"}}, nil},
		"tool":           {task.Filter{Tools: []string{"tool", "other"}}, []string{first.ID, ended.ID, third.ID}},
		"another tool":   {task.Filter{Tools: []string{"other"}}, nil},
		"status":         {task.Filter{Statuses: []task.Status{task.InputRequired, task.Cancelled}}, []string{ended.ID, third.ID}},
		"from":           {task.Filter{CreatedFrom: ended.CreatedAt}, []string{ended.ID, third.ID}},
		"before":         {task.Filter{CreatedBefore: ended.CreatedAt}, []string{first.ID}},
		"owner and from": {task.Filter{Owners: []string{ada}, CreatedFrom: ended.CreatedAt}, []string{third.ID}},
	} {
		got := ids(p.walkAll(c.f, 1, func() {}))
		if !slices.Equal(got, c.want) {
			p.Errorf("%s: got %v, want %v", what, got, c.want)
		}
		n, err := p.Count(p.ctx, c.f)
		p.must(err, "count")
		total := 0
		for _, k := range n {
			total += k
		}
		p.equal(total, len(c.want), "count by "+what)
	}
}

func operatorsCount(p *probe) {
	n, err := p.Count(p.ctx, task.Filter{})
	p.must(err, "count")
	p.equal(len(n), 0, "statuses in an empty store")
	for i, s := range task.Statuses() {
		for range i + 1 {
			p.reach(s)
		}
	}
	p.createWith(task.Task{Owner: bob, TTL: time.Minute})
	p.wait(time.Minute)
	n, err = p.Count(p.ctx, task.Filter{}) // without the expired one, removed or not
	p.must(err, "count")
	p.equal(n, map[task.Status]int{task.Working: 1, task.InputRequired: 2, task.Completed: 3, task.Failed: 4, task.Cancelled: 5}, "counts")
}

func operatorsBadCursors(p *probe) {
	p.create(ada)
	for _, bad := range []string{"x", "nonsense!", "\n"} {
		_, err := p.ListAll(p.ctx, task.Filter{}, bad, 2)
		p.refuses(err, task.ErrCursor, "a bad cursor")
	}
}

// interruptersTell is for stores that are an Interrupter: they hint at every cancel that a run should know of.
func interruptersTell(p *probe) {
	i, ok := p.Store.(task.Interrupter)
	if !ok {
		return
	}
	hints := make(chan string, 100)
	stop := i.Interrupts(func(id string) { hints <- id })
	for _, c := range []task.Cancel{{}, {Force: true}} {
		id, _ := p.begun()
		_, err := p.Cancel(p.ctx, ada, id, c)
		p.must(err, "cancel")
		for told := ""; told != id; {
			select {
			case told = <-hints:
			case <-time.After(p.patience):
				p.Errorf("nobody was told of the cancel of %s", id)
				told = id
			}
		}
	}
	stop()
}
