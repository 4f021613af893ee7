//go:build unix && !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package rpc

import "errors"

func dup2(int, int) error { return errors.ErrUnsupported }
