package metrics

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxLabels is how many labels a family has at most.
const maxLabels = 4

// bounds are the upper ends of the buckets of every histogram: from what decoding takes to what a user waits for.
var bounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond,
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, time.Hour,
}

// family is all series of one name.
type family struct {
	name, kind, help string
	labels           []string
	series           map[[maxLabels]string]*series
}

// series is one combination of labels: a number, or a histogram.
type series struct {
	count   int64
	sum     float64
	buckets [len(bounds)]int64 // not cumulative
}

const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
)

// families are the metrics, in the order in which they are shown.
var families = []family{
	{name: "mcp_requests_total", kind: counter, help: "Requests that were served.", labels: []string{"method", "tool", "revision", "outcome"}},
	{name: "mcp_request_duration_seconds", kind: histogram, help: "Time until the handler of a request returned.", labels: []string{"method", "tool"}},
	{name: "mcp_requests_in_flight", kind: gauge, help: "Requests that are being served.", labels: []string{"method"}},
	{name: "mcp_requests_refused_total", kind: counter, help: "Requests that were not served.", labels: []string{"method", "code"}},
	{name: "mcp_task_runs_total", kind: counter, help: "Runs of the handlers of tasks.", labels: []string{"tool", "outcome"}},
	{name: "mcp_task_run_duration_seconds", kind: histogram, help: "Time until the handler of a task returned.", labels: []string{"tool"}},
	{name: "mcp_task_runs_in_flight", kind: gauge, help: "Tasks whose handlers run.", labels: []string{"tool"}},
	{name: "mcp_tasks_created_total", kind: counter, help: "Requests that became tasks.", labels: []string{"tool"}},
	{name: "mcp_tasks_ended_total", kind: counter, help: "Tasks that are over.", labels: []string{"tool", "status"}},
	{name: "mcp_questions_asked_total", kind: counter, help: "Questions to clients.", labels: []string{"tool"}},
	{name: "mcp_questions_ended_total", kind: counter, help: "Questions that were answered, or will not be.", labels: []string{"tool", "outcome"}},
	{name: "mcp_question_duration_seconds", kind: histogram, help: "Time until a question ended.", labels: []string{"tool"}},
	{name: "mcp_connections", kind: gauge, help: "Connections and sessions."},
	{name: "mcp_connections_total", kind: counter, help: "Connections and sessions that were opened."},
	{name: "mcp_progress_dropped_total", kind: counter, help: "Progress notifications that were not sent.", labels: []string{"reason"}},
}

// at is the series of these labels.
func (f *family) at(labels []string) *series {
	var key [maxLabels]string
	copy(key[:], labels)
	s := f.series[key]
	if s == nil {
		s = new(series)
		f.series[key] = s
	}
	return s
}

// text is everything in the text format. Families and series have an order, so that two readings can be compared.
func (m *Metrics) text() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b []byte
	for i := range families {
		if f := m.families[families[i].name]; len(f.series) > 0 {
			b = f.append(b)
		}
	}
	return b
}

func (f *family) append(b []byte) []byte {
	b = append(b, "# HELP "+f.name+" "+f.help+"\n# TYPE "+f.name+" "+f.kind+"\n"...)
	keys := slices.SortedFunc(maps.Keys(f.series), func(a, b [maxLabels]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		s, labels := f.series[key], f.labelsOf(key)
		if f.kind == histogram {
			b = s.appendHistogram(b, f.name, labels)
			continue
		}
		b = appendSample(b, f.name, labels, float64(s.count))
	}
	return b
}

// labelsOf are the labels of a series as they are written, without braces.
func (f *family) labelsOf(key [maxLabels]string) string {
	var list []string
	for i, name := range f.labels {
		list = append(list, name+`="`+escaper.Replace(key[i])+`"`)
	}
	return strings.Join(list, ",")
}

// escaper writes what a label's value can not hold as it is.
var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (s *series) appendHistogram(b []byte, name, labels string) []byte {
	sofar := int64(0)
	for i, bound := range bounds {
		sofar += s.buckets[i]
		b = appendSample(b, name+"_bucket", with(labels, "le", strconv.FormatFloat(bound.Seconds(), 'g', -1, 64)), float64(sofar))
	}
	b = appendSample(b, name+"_bucket", with(labels, "le", "+Inf"), float64(s.count))
	b = appendSample(b, name+"_sum", labels, s.sum)
	return appendSample(b, name+"_count", labels, float64(s.count))
}

// with is labels with one more.
func with(labels, name, value string) string {
	return strings.TrimPrefix(labels+","+name+`="`+value+`"`, ",")
}

func appendSample(b []byte, name, labels string, value float64) []byte {
	b = append(b, name...)
	if labels != "" {
		b = append(append(append(b, '{'), labels...), '}')
	}
	return append(strconv.AppendFloat(append(b, ' '), value, 'g', -1, 64), '\n')
}
