package pattern

import (
	"strings"
	"testing"
)

// What ECMA-262 says of single characters: those that match, and those that do not.
func TestVAL05CharactersAreThoseOfECMA262(t *testing.T) {
	spaces := "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
	others := "a0_-.\x00\u0085\u180e\u200b\u2060é😀"
	for _, test := range []struct{ pattern, yes, no string }{
		{`\s`, spaces, others}, {`\S`, others, spaces}, {`[\s]`, spaces, others}, {`[^\s]`, others, spaces}, {`[\S]`, others, spaces}, {`[^\S]`, spaces, others},
		{`[\s\S]`, spaces + others, ""}, {`[a\s-]`, spaces + "a-", "b."}, {`[\s-z]`, spaces + "-z", "ay\u3001"}, {`[+-\s]`, spaces + "+-", ",."}, {`[\w-.]`, "aZ_9-.", " /"},
		{`.`, others + "\v\f\t", "\n\r\u2028\u2029"}, {`[.]`, ".", "a\n"}, {`[^.]`, "a\n", "."},
		{`\d`, "09", "a\u0660\u0967"}, {`\D`, "a\u0660", "09"}, {`\w`, "azAZ09_", "é\u0660-"}, {`\W`, "é\u0660-", "a_9"}, {`[\d]`, "5", "\u0660"},
		{`[^]`, "a\n\u2028😀", ""}, {`[^][a]|a`, "a", "b"}, {`[]`, "", "a]"}, {`[]a]|b`, "b", "a]"}, {`[\b]`, "\b", "b"},
		{`\u0041`, "A", "u"}, {`\u{41}`, "A", "u"}, {`\u{1F600}`, "😀", "u"}, {`\uD83D\uDE00`, "😀", "u"}, {`[\uD83D\uDE00-\uD83D\uDE02]`, "😀😁😂", "😃"}, {`[\u0041-\u0043]`, "ABC", "D-"},
		{`\x41`, "A", "x"}, {`\cA`, "\x01", "cA"}, {`\cj`, "\n", "j"}, {`[\cA-\cC]`, "\x01\x03", "\x04c"}, {`\0`, "\x00", "0"}, {`\t\v|\f`, "\f", "\t"},
		{`\/`, "/", `\`}, {`[\/]`, "/", `\`}, {`\-`, "-", `\`}, {`[\-a]`, "-a", "b"}, {`[a\-c]`, "a-c", "b"}, {`[a-c]`, "abc", "-"}, {`[\]]`, "]", `\`}, {`[[]`, "[", "]"},
		{`[[:alpha:]]|x`, "x", "l"}, {`[&&]`, "&", "a"}, {`\.`, ".", "a"}, {`\é`, "é", "e"}, {`(?<name>a)`, "a", "n"}, {`(?<n>a)|(?<n>b)`, "ab", "n"},
		{`\p{L}`, "aé日", "1"}, {`\p{Script=Greek}`, "α", "a"}, {`\p{sc=Greek}`, "α", "a"}, {`\p{General_Category=Lu}`, "A", "a"}, {`\P{L}`, "1", "a"}, {`[\p{L}-]`, "a-", "1"},
		{`(?s).`, "\n", ""},
	} {
		re, err := Compile("^(?:" + test.pattern + ")$")
		if err != nil {
			t.Errorf("%s: %v", test.pattern, err)
			continue
		}
		for _, c := range test.yes {
			if !re.MatchString(string(c)) {
				t.Errorf("%s does not match %q", test.pattern, c)
			}
		}
		for _, c := range test.no {
			if re.MatchString(string(c)) {
				t.Errorf("%s matches %q", test.pattern, c)
			}
		}
	}
}

// Without the flag m, ^ and $ are the ends of the text, whatever lines it has; \b knows ASCII only.
func TestVAL05AssertionsAreThoseOfECMA262(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{`^a$`, "a\n", false}, {`^a$`, "b\na\nb", false}, {`a.b`, "a\nb", false}, {`a.b`, "a\rb", false}, {`a[^]b`, "a\nb", true}, {`\bé`, "é", false}, {`\ba`, "éa", true}, {`^\s*$`, "\u00a0\ufeff", true},
	} {
		re, err := Compile(test.pattern)
		if err != nil || re.MatchString(test.text) != test.want {
			t.Errorf("%s on %q: %v, want %t", test.pattern, test.text, err, test.want)
		}
	}
}

// What RE2 does not have is an error, and so is what no regular expression is.
// TestVAL05ManyRepeats: RE2 takes 1,000, what publishers write about lengths is more.
func TestVAL05ManyRepeats(t *testing.T) {
	for text, lengths := range map[string]struct{ good, bad []int }{
		`^.{1,1024}$`:           {[]int{1, 1000, 1001, 1024}, []int{0, 1025}},
		`^a{2048}$`:             {[]int{2048}, []int{2047, 2049, 1000}},
		`^a{1500,2500}$`:        {[]int{1500, 2000, 2500}, []int{1499, 2501}},
		`^a{0,1001}?$`:          {[]int{0, 1, 1001}, []int{1002}},
		`^a{1001,}$`:            {[]int{1001, 9999}, []int{0, 1000}},
		`^(?:[a-c\s]){3,1002}$`: {[]int{3, 1002}, []int{2, 1003}},
		`^(?<n>(a)){1100}$`:     {[]int{1100}, []int{1099}},
		`^b*(a|(b)){1001}b*$`:   {[]int{1001}, []int{1000, 1002}},
		`^\u0061{1001}$`:        {[]int{1001}, []int{1000}},

		`^(?:\w{1,100}){1,50}$`:         {[]int{1, 101, 999}, []int{0}},
		`^(?:(?:a{2}){3}){400}$`:        {[]int{2400}, []int{2394}},
		`^(?:(a{2}|b){3}|c{5}){200}$`:   {[]int{1200}, []int{1199}},
		`^(?:a{10}){500}$`:              {[]int{5000}, []int{4999}},
		`^(?:a{1001}){2}$`:              {[]int{2002}, []int{1001, 2001, 2003}},
		`^(?:(?:a{40}){40}){2,4}$`:      {[]int{3200}, []int{1600}},
		`^(?:a{30}){40,}$`:              {[]int{1200, 1230}, []int{1170, 1201}},
		`^(?:a{1000}){0,3}?$`:           {[]int{0, 1000, 3000}, []int{1, 999}},
		`^(?:a{0,1000}){0}(a{5}){5}$`:   {[]int{25}, []int{0, 5, 24, 26}},
		`^(?:a+){1,50}$`:                {[]int{1, 999}, []int{0}},
		`^((a{20}){20}(a{20}){20}){3}$`: {[]int{2400}, []int{2399}},
	} {
		re, err := Compile(text)
		if err != nil {
			t.Error(text, err)
			continue
		}
		for _, n := range lengths.good {
			if !re.MatchString(strings.Repeat("a", n)) {
				t.Error(text, "refuses", n)
			}
		}
		for _, n := range lengths.bad {
			if re.MatchString(strings.Repeat("a", n)) {
				t.Error(text, "takes", n)
			}
		}
	}
	for _, text := range []string{`a{10001}`, `a{1,99999}`, `((((((a{9999}){9999}){9999}){9999}){9999}){9999}){9999}`, `a{1001}{1001}`, `{1001}`, `a{1100,2}`, `(?:a{100}){101}`, `(?:(?:a{99}){99}){2}`} {
		if _, err := Compile(text); err == nil {
			t.Error(text, "compiles")
		}
	}
	if re, err := Compile(`^[{1001}]x$`); err != nil || !re.MatchString("{x") {
		t.Error(re, err)
	}
}

func TestVAL03PatternsThatAreNotRE2(t *testing.T) {
	for _, text := range []string{`(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`, `(a)\1`, `\12`, `(?<n>a)\k<n>`, `\uD800`, `\u12`, `\u{110000}`, `[a`, `(`, `\`, `[\`, `[b-a]`, `\e`, `\p{Nope}`, `(?<n`} {
		if re, err := Compile(text); err == nil {
			t.Errorf("%s is %s", text, re)
		}
	}
}

func TestNearlyAllPatternsStayAsTheyAre(t *testing.T) {
	for _, text := range []string{"^[a-z]+$", "^bat_[a-z0-9]{12}$", "", "^(a|b)*$"} {
		if got, err := RE2(text); err != nil || strings.NewReplacer(`\x{5f}`, "_").Replace(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
}

// FuzzRE2 looks for texts that panic, and for classes that are written wrongly: what RE2 takes as it is, it takes rewritten.
func FuzzRE2(f *testing.F) {
	for _, text := range []string{`[\s-z]`, `\u{41}`, `(?<n>.)`, `[^]`, `\cA\`, `[\`, `\p{sc=`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { Compile(text) })
}
