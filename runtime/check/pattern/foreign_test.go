package pattern

import "testing"

// What RE2 has beyond ECMA-262 is found with what to write instead, which is not foreign itself; what ECMA-262 has is not found.
func TestVAL03PatternsThatAreRE2Alone(t *testing.T) {
	for text, want := range map[string][2]string{
		`^(?P<year>\d{4})$`: {"(?P<", "(?<"}, `\Aab`: {`\A`, "^"}, `ab\z`: {`\z`, "$"}, `a\Q.*\E`: {`\Q`, `a backslash before each of ^ $ \ . * + ? ( ) [ ] { } |`},
		`\a`: {`\a`, `\x07`}, `[\a]`: {`\a`, `\x07`}, `\x{1F600}`: {`\x{`, `\u{`}, `\07`: {`\07`, `\x and two hexadecimal digits`},
		`^\pN+$`: {`\pN`, `\p{N}`}, `[^\PL]`: {`\PL`, `\P{L}`}, `\p{^L}`: {`\p{^L}`, `\P{L}`}, `\P{^Greek}`: {`\P{^Greek}`, `\p{Script=Greek}`}, `\p{Greek}`: {`\p{Greek}`, `\p{Script=Greek}`},
		`(?i)abc`: {"(?i)", "both letters, as in [Aa], or (?i:…) around what it is about"}, `a(?i-s)b`: {"(?i-s)", "both letters, as in [Aa], or (?i-s:…) around what it is about"},
		`(?s).`: {"(?s)", "(?s:…) around what it is about"}, `(?m)^a$`: {"(?m)", "(?m:…) around what it is about"},
		`(?U)a+`: {"(?U)", "nothing: how much a repeat takes does not change what matches"}, `(?iU:a+)`: {"(?iU:", "nothing: how much a repeat takes does not change what matches"},
		`^[[:alpha:]]+$`: {"[[:alpha:]]", "[A-Za-z]"}, `[_[:^digit:]]`: {"[[:^digit:]]", "[^0-9]"}, `^[a-z]{,5}$`: {"{,5}", `{0,5}, or \{ for the character`},
	} {
		if _, err := Compile(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		part, instead := Foreign(text)
		if part != want[0] || instead != want[1] {
			t.Errorf("%s: %q, write %q, want %q", text, part, instead, want)
		}
	}
	for _, text := range []string{
		"", `^a$`, `(?<year>\d)`, `(?:a)`, `(?i:a)`, `(?i-s:a)`, `\\A`, `\\Q`, `\p{L}`, `\P{Lu}`, `\p{Script=Greek}`, `\p{sc=Greek}`, `\p{Any}`, `\u{41}`, `\x41`, `\0`, `[(?P<]`, `[(?i)]`, `[{,5}]`,
		`[[:]`, `[[a]`, `[:alpha:]`, `[[:name:]`, `[[:nope:]]`, `\[[:alpha:]`, `a{5}`, `a{5,}`, `a{0,5}`, `\{,5\}`, `\(?i\)`, `\-\@\_`, `[]]`, `(?`, `(?P`, `\`, `[`, `\p`, `\p{`,
	} {
		if part, instead := Foreign(text); part != "" {
			t.Errorf("%s: %q, write %q", text, part, instead)
		}
	}
	for _, instead := range posixClasses {
		if part, _ := Foreign("[" + instead + "]"); part != "" {
			t.Errorf("[%s] has %q", instead, part)
		}
	}
}

func FuzzForeign(f *testing.F) {
	for _, text := range []string{`[[:alpha:]`, `(?P<`, `\p{^`, `(?i)`, `{,5}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if part, instead := Foreign(text); (part == "") != (instead == "") {
			t.Errorf("%q, write %q", part, instead)
		}
	})
}
