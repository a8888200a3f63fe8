package main

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// enableEscapes makes the console obey escape sequences; it reports false for
// one that cannot, as those before Windows 10.
func enableEscapes(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	var mode uint32
	console := windows.Handle(f.Fd())
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
