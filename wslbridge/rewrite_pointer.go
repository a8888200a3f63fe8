package wslbridge

import (
	"strconv"
	"strings"
)

// pointerOf returns the JSON pointer (RFC 6901) of the value of a frame that begins at index at.
func pointerOf(frame []byte, at int) string {
	var pointer []byte
	for i := frameStart(frame); i >= 0 && i < at; {
		container, ok := entriesOf(frame, i)
		if !ok {
			break
		}
		i = -1
		index := 0
		for behind := 0; container.next(behind); index++ {
			behind = skipValue(frame, container.at)
			if behind > at || behind < 0 {
				i = container.at
				break
			}
		}
		if i < 0 {
			break
		}
		pointer = append(pointer, '/')
		if container.object {
			key := string(unquote(container.key.in(frame)))
			pointer = append(pointer, strings.NewReplacer("~", "~0", "/", "~1").Replace(key)...)
		} else {
			pointer = strconv.AppendInt(pointer, int64(index), 10)
		}
	}
	return string(pointer)
}
