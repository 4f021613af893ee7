package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shellBlock is one block of commands on a page: fenced as sh, or indented and begun by a command.
type shellBlock struct {
	page  string // below the repository
	lines []string
}

// notRun are the lines of blocks that no test runs, by their beginning, and why.
var notRun = map[string]string{
	"make ":                                       "these targets run this test, or need minutes: CI calls them",
	"mcpkiln import -- npx":                       "it stands for a server that a registry has",
	"mcpkiln task answer 01JD8":                   "the reference is made up; the line that a question prints is run by the script call-answers",
	"mcpkiln init reports":                        "without --replace it asks the registry for a release; README's line is run",
	"mcpkiln init --http --from":                  "the same; scripts run both flags",
	"cd my/module && mcpkiln init .":              "there is no such module; scripts run it",
	"mcpkiln call --detach http://127.0.0.1:8081": "replicas on a database, which the tests of the Postgres module start",
	"kill -9 %1":                                  "the same",
	"mcpkiln task wait \"$(sed":                   "the same",
	"mcpkiln task answer @ref.json":               "the task that is left running asks nothing; scripts answer one that does",
	"mcpkiln task cancel @ref.json":               "the task is over by then; scripts cancel one that is not",
}

var shellCommand = regexp.MustCompile(`^(make|go|mcpkiln|cd|git|curl|\./\w+) `)

// TestDAY07ShellBlocksRun: what the pages tell their reader to type works, in a project that the README's first lines have made. Addresses of
// the pages are those of its server.
func TestDAY07ShellBlocksRun(t *testing.T) {
	t.Parallel()
	if err := buildPlain(); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	blocks := shellBlocks(t, root)
	i := slices.IndexFunc(blocks, func(b shellBlock) bool { return b.page == "README.md" && strings.Contains(b.lines[0], " init ") })
	if i < 0 {
		t.Fatal("the README makes no project")
	}
	dir := t.TempDir()
	s := &shell{t: t, root: root, project: filepath.Join(dir, "reports"), dir: root}
	s.run(blocks[i])
	s.prepare()
	for _, b := range slices.Delete(blocks, i, i+1) {
		if b.page != "cmd/mcpkiln/IMPORT.md" { // whose blocks go on where the last one ended
			s.dir = s.project
		}
		s.run(b)
	}
	for begin := range notRun {
		if !s.left[begin] {
			t.Errorf("no page says %q any more", begin)
		}
	}
	t.Logf("%d blocks found, %d lines run, %d left out with a reason", len(blocks)+1, s.ran, s.out)
}

// shellBlocks finds the blocks of all pages.
func shellBlocks(t *testing.T, root string) (all []shellBlock) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".md"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page, err := filepath.Rel(root, path)
		all = append(all, blocksOf(filepath.ToSlash(page), string(text))...)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatal(err, len(all))
	}
	return all
}

func blocksOf(page, text string) (all []shellBlock) {
	var b shellBlock
	fence := ""
	end := func(is bool) {
		if is && len(b.lines) > 0 {
			all = append(all, b)
		}
		b = shellBlock{page: page}
	}
	end(false)
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimRight(line, "\n")
		switch word, opens := strings.CutPrefix(line, "```"); {
		case opens && fence == "":
			fence = "```" + word
		case opens:
			end(fence == "```sh")
			fence = ""
		case fence == "```sh" || fence == "" && strings.HasPrefix(line, "    "):
			b.lines = append(b.lines, strings.TrimPrefix(line, "    "))
		case fence == "":
			end(len(b.lines) > 0 && shellCommand.MatchString(b.lines[0]+" "))
		}
	}
	return all
}

// shell runs blocks. cd lasts until the end of its block.
type shell struct {
	t                  *testing.T
	root, project, dir string
	url                string // of the server
	left               map[string]bool
	ran, out           int
}

func (s *shell) run(b shellBlock) {
	s.t.Helper()
	for _, line := range commands(b.lines) {
		if why := s.reason(line); why != "" {
			s.out++
			continue
		}
		s.ran++
		if strings.HasPrefix(line, "mcpkiln import ") {
			s.empty()
		}
		line = strings.NewReplacer("../reports", s.project, "=../mcpkiln", "="+s.root, "https://example.com/mcp", s.url, "http://127.0.0.1:8080/mcp", s.url).Replace(line)
		if strings.HasPrefix(line, "curl ") {
			s.curl(b.page, line)
			continue
		}
		if before, _, serves := strings.Cut(line, " -http :8080"); serves {
			s.serve(before)
			continue
		}
		if to, ok := strings.CutPrefix(line, "cd "); ok && !strings.Contains(to, "&&") {
			s.dir = filepath.Join(to)
			continue
		}
		if out, err := s.command("sh", "-ec", line).CombinedOutput(); err != nil {
			s.t.Fatalf("%s: %s: %v\n%s", b.page, line, err, out)
		}
	}
}

// commands are the lines of a block with what continues them.
func commands(lines []string) (all []string) {
	open := false
	for _, line := range lines {
		if open {
			all[len(all)-1] += "\n" + line
		} else {
			all = append(all, line)
		}
		last := all[len(all)-1]
		open = strings.HasSuffix(last, "\\") || strings.Count(last, "'")%2 == 1
	}
	return all
}

func (s *shell) reason(line string) string {
	for begin, why := range notRun {
		if strings.HasPrefix(strings.Join(strings.Fields(line), " ")+" ", begin) {
			if s.left == nil {
				s.left = map[string]bool{}
			}
			s.left[begin] = true
			return why
		}
	}
	return ""
}

func (s *shell) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "PATH="+withPlain(os.Getenv("PATH")), "PWD="+s.dir, "MCPKILN_TOKEN=me", "EDITOR=true", "XDG_CONFIG_HOME="+filepath.Join(filepath.Dir(s.project), "config"),
		"GITHUB_STEP_SUMMARY="+filepath.Join(filepath.Dir(s.project), "summary"))
	return c
}

// serve starts the program of the project on a port of its own, until the end of the test.
func (s *shell) serve(program string) {
	s.t.Helper()
	c := s.command(program, "-http", "127.0.0.1:0")
	log, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	})
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if at := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(lines.Text()); at != "" {
			s.url = fmt.Sprintf("http://%s/mcp", at)
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	s.t.Fatal("the program does not say where it serves")
}

// curl does what a line with curl asks for: not every machine has it. The shell splits its words.
func (s *shell) curl(page, line string) {
	s.t.Helper()
	words, err := s.command("sh", "-ec", `curl() { printf '%s\0' "$@"; }; `+line).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	args := strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
	r, err := http.NewRequest(http.MethodPost, s.url, nil)
	for i := 0; err == nil && i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-H":
			i++
			name, value, _ := strings.Cut(args[i], ": ")
			r.Header.Set(name, value)
		case arg == "-d":
			i++
			r.Body = io.NopCloser(strings.NewReader(args[i]))
		case arg == "-i":
		case strings.HasPrefix(arg, "http"):
			r.URL, err = url.Parse(arg)
		default:
			s.t.Fatalf("%s: what does curl do with %s?", page, arg)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), `"result"`) {
		s.t.Errorf("%s: %s: %d %s %v", page, line, answer.StatusCode, text, err)
	}
}

// empty goes to a module without a manifest.
func (s *shell) empty() {
	s.t.Helper()
	s.dir = s.t.TempDir()
	answer, err := os.ReadFile(filepath.Join(s.project, "answer.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "answer.json"), answer, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "go.mod"), []byte("module example.com/imported\n\ngo 1.26\n"), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// prepare makes what the other pages take for granted: a saved answer, a draft of the protocol, and a history.
func (s *shell) prepare() {
	s.t.Helper()
	s.dir = s.project
	for _, line := range []string{
		"mcpkiln tools --json " + s.url + " > answer.json", "mcpkiln schema 2025-06-18/core.json > schema.json",
		"git init -q -b main && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm first && git tag v1.2.0",
	} {
		if out, err := s.command("sh", "-ec", line).CombinedOutput(); err != nil {
			s.t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
}
