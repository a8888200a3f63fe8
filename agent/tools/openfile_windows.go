package tools

// Neither FIFOs nor swapped links are a matter on Windows, where the agent runs
// inside WSL.
const (
	openNonblock = 0
	openNoFollow = 0
)
