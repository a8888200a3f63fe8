// Package pathxlate translates paths and URIs between a Windows editor and a
// program inside WSL. It works on strings alone: what it has to know about a
// machine (mounts, distro name) is handed to it as text, so the same input gives
// the same output on every operating system.
//
// A path that cannot be translated with certainty is an [*Error] that wraps one
// of the Err values of this package and names a remedy; it is never guessed at.
// Translating twice changes nothing: a Linux path given to ToLinux and a Windows
// path given to ToWindows come back as they are, cleaned.
//
// Cleaned means: no empty and no "." segment, ".." resolved by the text alone, no
// trailing separator except on a root.
//
// Microsoft's wslpath is the yardstick. Where this package differs on purpose,
// docs/paths.md says how and why.
package pathxlate
