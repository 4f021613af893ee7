package revision

import "testing"

func BenchmarkLoad(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ds := Load(name); len(ds) > 0 {
					b.Fatal(ds)
				}
			}
		})
	}
}
