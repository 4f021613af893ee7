package endurance

import (
	"os"
	"syscall"
	"testing"
)

// reportPeak tells how much memory a process that has ended had at most.
func reportPeak(b *testing.B, p *os.ProcessState) {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		b.ReportMetric(float64(usage.Maxrss)/1024, "peak-MB")
	}
}
