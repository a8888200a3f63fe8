package store

// runHelper is replaced below once tests start processes of their own.
func runHelper() bool { return false }
