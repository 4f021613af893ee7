package revision

import (
	"flag"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics in testdata")

// Each file of rejected.txtar is one change of testdata/mini/rules.yaml: the text to replace, the new one, and after
// the line "---" what Load has to say about it.
func TestREV04BrokenRulesAreRefused(t *testing.T) {
	const golden = "testdata/rejected.txtar"
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		file := &archive.Files[i]
		t.Run(file.Name, func(t *testing.T) {
			change, want, _ := strings.Cut(string(file.Data), "---\n")
			old, changed, ok := strings.Cut(strings.TrimSuffix(change, "\n"), "\n")
			if !ok {
				t.Fatal("two lines are needed: the old and the new text")
			}
			r, ds := mini(t, old, strings.ReplaceAll(changed, `\n`, "\n"))
			got := ""
			if len(ds) > 0 {
				got = ds.Error() + "\n"
			}
			if r != nil || len(ds) == 0 {
				t.Error("accepted")
			}
			if *update {
				file.Data = []byte(change + "---\n" + got)
			} else if got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
