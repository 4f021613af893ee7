package sqlite

import (
	"os"
	"syscall"
)

// links is how many names the file has in its file system; 0: that is not known.
func links(file string) uint64 {
	f, err := os.Open(file)
	if err != nil { // a VFS of the driver keeps it elsewhere
		return 0
	}
	defer f.Close()
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info); err != nil {
		return 0
	}
	return uint64(info.NumberOfLinks)
}
