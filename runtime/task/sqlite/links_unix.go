//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// links is how many names the file has in its file system; 0: that is not known. The file is not opened: when any descriptor of it is closed, the process
// loses the locks that SQLite has on it.
func links(file string) uint64 {
	info, err := os.Stat(file)
	if err != nil { // a VFS of the driver keeps it elsewhere
		return 0
	}
	return uint64(info.Sys().(*syscall.Stat_t).Nlink)
}
