//go:build !unix

package store

import "errors"

func limitFileSize(uint64) error { return errors.ErrUnsupported }
