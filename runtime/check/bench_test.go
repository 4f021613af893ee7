package check_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// The small input of the performance table: 5 fields, enum, bounds, pattern.

type Small struct {
	Symbol string  `json:"symbol"`
	Side   Side    `json:"side"`
	Count  int64   `json:"count"`
	Limit  float64 `json:"limit"`
	Note   string  `json:"note"`
}

const smallInput = `{"symbol":"ACME","side":"buy","count":100,"limit":19.99,"note":"at the open, please"}`

var (
	small       = check.Object{Names: []string{"symbol", "side", "count", "limit", "note"}, Required: []string{"symbol", "side", "count"}, AdditionalProperties: check.Refuse}
	smallSymbol = check.String{Min: 1, Max: 8, Pattern: &format.Pattern{Source: "^[A-Z.]+$"}}
	smallCount  = check.Int{Has: check.Minimum | check.Maximum, Min: 1, Max: 1000000}
	smallLimit  = check.Number{Has: check.ExclusiveMinimum, Min: 0}
	smallNote   = check.String{Max: 200}
)

func decodeSmall(d *check.Decoder, v *Small) {
	for f := d.Object(&small); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Symbol = d.String(&smallSymbol)
		case 1:
			v.Side = Side(d.Enum(&side))
		case 2:
			v.Count = d.Int(&smallCount)
		case 3:
			v.Limit = d.Float(&smallLimit)
		case 4:
			v.Note = d.String(&smallNote)
		}
	}
}

var sink *Small

func BenchmarkSmall(b *testing.B) {
	data := []byte(smallInput)
	bench := func(name string, decode func(*Small) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				v := new(Small) // on the heap for all alike, as a handler's input is
				if err := decode(v); err != nil {
					b.Fatal(err)
				}
				sink = v
			}
		})
	}
	bench("check", func(v *Small) error { return check.Decode(data, check.Limits{}, decodeSmall, v) })
	bench("hand", func(v *Small) error { return handSmall(data, v) })
	bench("encoding-json", func(v *Small) error { return json.Unmarshal(data, v) })
	bench("valid", func(*Small) error { return check.Valid(data, check.Limits{}) })
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		var v OrderInput
		if err := check.Decode([]byte(goodOrder), check.Limits{}, decodeOrderInput, &v); err != nil {
			b.Fatal(err)
		}
		var buf []byte
		for b.Loop() {
			buf = appendOrderInput(buf[:0], &v)
		}
	})
}

// handSmall is the reference: what one writes by hand for exactly this type, copying strings, without positions in its
// errors, without limits and escapes.
func handSmall(data []byte, v *Small) error {
	p := hand{data: data}
	p.want('{')
	seen := 0
	for !p.bad {
		key := p.str()
		p.want(':')
		switch string(key) {
		case "symbol":
			v.Symbol = string(p.str())
			p.check(len(v.Symbol) >= 1 && len(v.Symbol) <= 8 && symbolOK(v.Symbol))
			seen |= 1
		case "side":
			v.Side = Side(p.str())
			p.check(v.Side == SideBuy || v.Side == SideSell)
			seen |= 2
		case "count":
			v.Count = p.int()
			p.check(v.Count >= 1 && v.Count <= 1000000)
			seen |= 4
		case "limit":
			v.Limit = p.float()
			p.check(v.Limit > 0)
		case "note":
			v.Note = string(p.str())
			p.check(len(v.Note) <= 200)
		default:
			p.bad = true
		}
		if p.i < len(data) && data[p.i] == ',' {
			p.i++
			continue
		}
		break
	}
	p.want('}')
	if p.bad || seen != 7 {
		return errHand
	}
	return nil
}

var errHand = errors.New("bad input")

func symbolOK(s string) bool {
	for i := range len(s) {
		if (s[i] < 'A' || s[i] > 'Z') && s[i] != '.' {
			return false
		}
	}
	return true
}

type hand struct {
	data []byte
	i    int
	bad  bool
}

func (p *hand) check(ok bool) { p.bad = p.bad || !ok }

func (p *hand) want(c byte) {
	if p.i < len(p.data) && p.data[p.i] == c {
		p.i++
		return
	}
	p.bad = true
}

func (p *hand) str() []byte {
	p.want('"')
	start := p.i
	for p.i < len(p.data) && p.data[p.i] != '"' {
		if c := p.data[p.i]; c == '\\' || c < ' ' || c >= 0x80 {
			p.bad = true
		}
		p.i++
	}
	p.want('"')
	return p.data[start : p.i-1]
}

func (p *hand) num() []byte {
	start := p.i
	for p.i < len(p.data) && strings.IndexByte("+-.eE0123456789", p.data[p.i]) >= 0 {
		p.i++
	}
	return p.data[start:p.i]
}

func (p *hand) int() (n int64) {
	for p.i < len(p.data) && p.data[p.i]-'0' <= 9 {
		n = n*10 + int64(p.data[p.i]-'0')
		p.i++
	}
	return n
}

func (p *hand) float() float64 {
	f, err := strconv.ParseFloat(string(p.num()), 64)
	p.check(err == nil)
	return f
}

// A record of the large and the nested inputs.

type Record struct {
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	Email   string            `json:"email"`
	Age     int64             `json:"age"`
	Score   float64           `json:"score"`
	Active  bool              `json:"active"`
	Created string            `json:"created"`
	Tags    []string          `json:"tags"`
	Address Address           `json:"address"`
	Owner   Owner             `json:"-"`
	Labels  map[string]string `json:"labels"`
}

type Address struct {
	Street string `json:"street"`
	City   string `json:"city"`
	Zip    string `json:"zip"`
}

var (
	record        = check.Object{Names: []string{"id", "name", "email", "age", "score", "active", "created", "tags", "address", "owner", "labels"}, Required: []string{"id", "name", "email", "age"}, AdditionalProperties: check.Refuse}
	recordID      = check.String{Pattern: &format.Pattern{Source: "^rec_[a-z0-9]{8}$"}}
	recordName    = check.String{Min: 1, Max: 80}
	recordEmail   = check.String{Format: format.Email}
	recordAge     = check.Int{Has: check.Minimum | check.Maximum, Max: 150}
	recordCreated = check.String{Format: format.DateTime}
	recordTags    = check.Array{Max: 10}
	address       = check.Object{Names: []string{"street", "city", "zip"}, Required: []string{"street", "city", "zip"}, AdditionalProperties: check.Refuse}
	addressZip    = check.String{Pattern: &format.Pattern{Source: "^[0-9]{5}$"}}
)

func decodeRecord(d *check.Decoder, v *Record) {
	for f := d.Object(&record); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.ID = d.String(&recordID)
		case 1:
			v.Name = d.String(&recordName)
		case 2:
			v.Email = d.String(&recordEmail)
		case 3:
			v.Age = d.Int(&recordAge)
		case 4:
			v.Score = d.Float(nil)
		case 5:
			v.Active = d.Bool(nil)
		case 6:
			v.Created = d.String(&recordCreated)
		case 7:
			v.Tags = d.Strings(&recordTags, nil)
		case 8:
			decodeAddress(d, &v.Address)
		case 9:
			decodeOwner(d, &v.Owner)
		case 10:
			v.Labels = check.Map(d, nil, decodeText)
		}
	}
}

func decodeText(d *check.Decoder, v *string) { *v = d.String(nil) }

func decodeAddress(d *check.Decoder, v *Address) {
	for f := d.Object(&address); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Street = d.String(nil)
		case 1:
			v.City = d.String(nil)
		case 2:
			v.Zip = d.String(&addressZip)
		}
	}
}

func decodeRecords(d *check.Decoder, v *[]Record) { *v = check.List(d, nil, decodeRecord) }

func records(n int) []byte {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,{"id":"rec_` + strconv.FormatInt(int64(1e9+i), 36) + `ab","name":"Ann Example","email":"ann.example@example.com","age":` + strconv.Itoa(i%100) +
			`,"score":` + strconv.Itoa(i) + `.25,"active":true,"created":"2026-07-28T09:30:00Z","tags":["red","green","blue"],` +
			`"address":{"street":"1 Long Street","city":"Springfield","zip":"12345"},"owner":"bob","labels":{"team":"core","tier":"gold"}}`)
	}
	return []byte("[" + b.String()[1:] + "]")
}

func benchRecords(b *testing.B, data []byte) {
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var v []Record
			if err := check.Decode(data, check.Limits{}, decodeRecords, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("valid", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if err := check.Valid(data, check.Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var v []Record
			if err := json.Unmarshal(data, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkNested2kB(b *testing.B)  { benchRecords(b, records(6)) }
func BenchmarkArray200kB(b *testing.B) { benchRecords(b, records(580)) }

// BenchmarkReject is the array with every record wrong.
func BenchmarkReject200kB(b *testing.B) {
	data := []byte(strings.ReplaceAll(string(records(580)), `"zip":"12345"`, `"zip":"1234x"`))
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		var v []Record
		if err := check.Decode(data, check.Limits{}, decodeRecords, &v); err == nil {
			b.Fatal("accepted")
		}
	}
}

// BenchmarkRejectUnion is a long text of which one short part fits no form of a union.
func BenchmarkRejectUnion200kB(b *testing.B) {
	data := []byte(`{"target":{"sku":"a","count":0},"rows":` + string(records(580)) + `}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := check.Decode(data, check.Limits{}, decodeTargeted, new(targeted)); err == nil {
			b.Fatal("accepted")
		}
	}
}

// targeted is a value of a union beside a long one.
type targeted struct {
	target Target
	rows   []Record
}

var targetedRule = check.Object{Names: []string{"target", "rows"}, AdditionalProperties: check.Refuse}

func decodeTargeted(d *check.Decoder, v *targeted) {
	for f := d.Object(&targetedRule); f >= 0; f = d.Next() {
		switch f {
		case 0:
			decodeTarget(d, &v.target)
		case 1:
			decodeRecords(d, &v.rows)
		}
	}
}

func BenchmarkRejectSmall(b *testing.B) {
	data := []byte(strings.Replace(smallInput, "ACME", "acme", 1))
	b.ReportAllocs()
	for b.Loop() {
		var v Small
		if err := check.Decode(data, check.Limits{}, decodeSmall, &v); err == nil {
			b.Fatal("accepted")
		}
	}
}

func BenchmarkUnion(b *testing.B) {
	b.Run("tag", func(b *testing.B) {
		data := []byte(`{"kind":"square","side":3}`)
		for b.Loop() {
			var v Shape
			_ = check.Decode(data, check.Limits{}, decodeShape, &v)
		}
	})
	b.Run("kind", func(b *testing.B) {
		data := []byte(`"ann"`)
		for b.Loop() {
			var v Owner
			_ = check.Decode(data, check.Limits{}, decodeOwner, &v)
		}
	})
	b.Run("key", func(b *testing.B) {
		data := []byte(`{"title":"x","data":"abc"}`)
		for b.Loop() {
			var v Source
			_ = check.Decode(data, check.Limits{}, decodeSource, &v)
		}
	})
	b.Run("second-of-oneOf", func(b *testing.B) {
		data := []byte(`{"id":"abc"}`)
		for b.Loop() {
			var v Target
			_ = check.Decode(data, check.Limits{}, decodeTarget, &v)
		}
	})
}

func BenchmarkPattern(b *testing.B) {
	p := format.Pattern{Source: "^[A-Z]{1,8}$"}
	re := regexp.MustCompile(p.Source)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			p.Match("ACME")
		}
	})
	b.Run("regexp", func(b *testing.B) {
		for b.Loop() {
			re.MatchString("ACME")
		}
	})
}

func BenchmarkPieces(b *testing.B) {
	run := func(name, data string) {
		b.Run(name, func(b *testing.B) {
			raw := []byte(data)
			var d check.Decoder
			for b.Loop() {
				d.Reset(raw, check.Limits{})
				d.Skip()
			}
		})
		b.Run(name+"-pooled", func(b *testing.B) {
			raw := []byte(data)
			for b.Loop() {
				check.Valid(raw, check.Limits{})
			}
		})
	}
	run("one", `1`)
	run("empty", `{}`)
	run("string", `"at the open, please"`)
	run("member", `{"symbol":1}`)
	run("small", smallInput)
}

// BenchmarkManyValues reads values of a large enum that is not of strings alone, and values that it does not have.
func BenchmarkManyValues(b *testing.B) {
	rule := &check.Values{}
	for i := range 3000 {
		rule.JSON = append(rule.JSON, strconv.Quote("v"+strconv.Itoa(i)))
	}
	rule.JSON = append(rule.JSON, "null")
	text := []byte(`["v0"`)
	for i := range 1000 {
		text = append(text, `,"v`+strconv.Itoa(4*i)+`"`...)
	}
	text = append(text, ']')
	for b.Loop() {
		_ = validate(text, check.Limits{Violations: 1}, func(d *check.Decoder, _ *struct{}) {
			for more := d.Array(&check.Array{}); more; more = d.Item() {
				d.Value(rule)
			}
		})
	}
}
