package templates

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func scaffolded(t *testing.T, p Project, path string) string {
	t.Helper()
	files, err := Scaffold(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Path == path {
			return string(bytes.TrimSpace(f.Content))
		}
	}
	return ""
}

// TestScaffoldBindsLoopbackButInAContainer: who runs the project by hand serves this machine alone; in a container that would
// be nobody, and the published port decides.
func TestScaffoldBindsLoopbackButInAContainer(t *testing.T) {
	p := Project{Module: "example.com/p", Import: "example.com/p", Package: "p", Runtime: "example.com/kiln", Version: "v1.0.0", OwnGoMod: true}
	if got := scaffolded(t, p, "http.go"); !strings.Contains(got, "streamhttp.Listen(addr)") {
		t.Errorf("http.go does not leave the address to streamhttp.Listen:\n%s", got)
	}
	if got := scaffolded(t, p, "Dockerfile"); !strings.Contains(got, `ENTRYPOINT ["/server", "-http", "0.0.0.0:8080"]`) || !strings.Contains(got, "-p 127.0.0.1:8080:8080") || !strings.Contains(got, "ENV GOMEMLIMIT=") {
		t.Errorf("Dockerfile:\n%s", got)
	}
}

// TestContainerRunsAsNobody: the image holds the server, what it needs to trust others, and a folder for temporary files, and does not run as root.
func TestContainerRunsAsNobody(t *testing.T) {
	p := Project{Module: "example.com/p", Import: "example.com/p", Package: "p", Runtime: "example.com/kiln", Version: "v1.0.0", OwnGoMod: true}
	got := scaffolded(t, p, "Dockerfile")
	for _, line := range []string{"FROM scratch\n", "/etc/ssl/certs/ca-certificates.crt", "USER 65532:65532\n",
		"install -d -m 1777 /rootfs/tmp\n", "COPY --from=build /rootfs/ /\n"} { // openers need a place for temporary files (SRV04)
		if !strings.Contains(got, line) {
			t.Errorf("lacks %q:\n%s", line, got)
		}
	}
}

// TestScaffoldHasNoDockerfileWhereItCouldNotBuild: inside a larger module the project's own directory is not all that a build needs.
func TestScaffoldHasNoDockerfileWhereItCouldNotBuild(t *testing.T) {
	if got := scaffolded(t, Project{Package: "p"}, "Dockerfile"); got != "" {
		t.Errorf("%s", got)
	}
}

// TestReadmeChangesWhatTheScaffoldHas: whoever follows the README gives the first tool a second property.
func TestReadmeChangesWhatTheScaffoldHas(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const had = "  get_quote:\n"
	const property = "        symbol: {type: string, minLength: 1, maxLength: 8}\n    outputSchema:\n"
	p := Project{Module: "example.com/p", Import: "example.com/p", Package: "p", Runtime: "example.com/kiln", Version: "v1.0.0", OwnGoMod: true}
	_, tool, ok := strings.Cut(scaffolded(t, p, "mcpkiln.yaml"), had)
	if !ok || !strings.Contains(tool, property) || !strings.Contains(string(readme), "in `mcpkiln.yaml`, give `get_quote` another property, `currency: {") {
		t.Errorf("the README and the scaffold have no longer in common:\n%s…\n%s", had, property)
	}
}
