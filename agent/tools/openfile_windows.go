package tools

// openNonblock is a Unix matter: there are no FIFOs in a Windows folder.
const openNonblock = 0
