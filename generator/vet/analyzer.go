package vet

import "golang.org/x/tools/go/analysis"

// analyzer makes an analyzer that checks one function at a time.
func analyzer(name, doc string, check func(fn *function)) *analysis.Analyzer {
	return packageAnalyzer(name, doc, func(pass *analysis.Pass, f *found) {
		for _, fn := range f.functions {
			own := *fn // several analyzers run at once, and each reports under its name
			own.pass = pass
			check(&own)
		}
	})
}

// packageAnalyzer makes an analyzer that checks a package with its handlers.
func packageAnalyzer(name, doc string, check func(*analysis.Pass, *found)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     name,
		Doc:      doc,
		URL:      "https://github.com/mcpkiln/mcpkiln/blob/main/cmd/mcpkiln/VET.md",
		Requires: []*analysis.Analyzer{Handlers},
		Run: func(pass *analysis.Pass) (any, error) {
			check(pass, pass.ResultOf[Handlers].(*found))
			return nil, nil
		},
	}
}
