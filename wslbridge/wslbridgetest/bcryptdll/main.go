// Command bcryptdll writes the one DLL that Go programs for Windows need and Wine 8 lacks:
// bcryptprimitives.dll, with ProcessPrng forwarded to advapi32. The file is a PE32+ image with one
// section that holds nothing but an export table.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
)

const (
	sectionRVA  = 0x1000
	sectionSize = 0x200
	headerSize  = 0x200
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bcryptdll FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], image(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func image() []byte {
	exports, size := exportSection()
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes everything
		}
	}
	dos := make([]byte, 64)
	copy(dos, "MZ")
	dos[60] = 64 // where the PE header begins
	put(dos, []byte("PE\x00\x00"))
	const machineAMD64, optionalSize, executableDLL = 0x8664, 240, 0x2022
	put(uint16(machineAMD64), uint16(1), [3]uint32{}, uint16(optionalSize), uint16(executableDLL))
	const magic64, imageBase = 0x20b, 0x180000000
	put(uint16(magic64), uint16(0), uint32(0), uint32(sectionSize), [3]uint32{}, uint64(imageBase))
	put(uint32(sectionRVA), uint32(headerSize))              // alignments of sections and file
	put([6]uint16{6, 0, 0, 0, 6, 0}, uint32(0))              // versions
	put(uint32(2*sectionRVA), uint32(headerSize), uint32(0)) // sizes of image and headers, checksum
	const console, noExecute = 3, 0x0100
	put(uint16(console), uint16(noExecute), [4]uint64{1 << 20, 1 << 12, 1 << 20, 1 << 12}, uint32(0), uint32(16))
	put(uint32(sectionRVA), uint32(size), [15]uint64{}) // data directories: exports alone
	const readableData = 0x40000040
	put([8]byte{'.', 'r', 'd', 'a', 't', 'a'}, uint32(sectionSize), uint32(sectionRVA), uint32(sectionSize), uint32(headerSize), [3]uint32{}, uint32(readableData))
	put(make([]byte, headerSize-b.Len()), exports)
	return b.Bytes()
}

// exportSection returns the section and how much of it is the export directory. A function whose
// address lies within the directory is the name of another DLL's function.
func exportSection() (section []byte, size int) {
	const directory, functions, names, ordinals, dllName, name, forward = 0, 40, 44, 48, 64, 96, 112
	section = make([]byte, sectionSize)
	put := func(at int, v uint32) { binary.LittleEndian.PutUint32(section[at:], v) }
	copy(section[dllName:], "bcryptprimitives.dll")
	copy(section[name:], "ProcessPrng")
	size = forward + copy(section[forward:], "advapi32.SystemFunction036") + 1
	put(directory+12, sectionRVA+dllName)
	for at, v := range map[int]uint32{16: 1, 20: 1, 24: 1, 28: sectionRVA + functions, 32: sectionRVA + names, 36: sectionRVA + ordinals} {
		put(directory+at, v)
	}
	put(functions, sectionRVA+forward)
	put(names, sectionRVA+name)
	return section, size
}
