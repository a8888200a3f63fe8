//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// checkPlace takes a pointer into a message and what should be there, see check.
func checkPlace(message []byte, place string) error {
	pointer, want, _ := strings.Cut(place, " ")
	value, err := decodeAny(message)
	if err != nil {
		return err
	}
	if err := matches(at(value, pointer), want); err != nil {
		return fmt.Errorf("%w in %.2000s", err, message)
	}
	return nil
}

func decodeAny(text []byte) (value any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&value)
	return value, err
}

// at returns what is at a pointer: keys and indexes, a slash before each; * stands
// for all elements there.
func at(value any, pointer string) []any {
	found := []any{value}
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var next []any
		for _, v := range found {
			next = append(next, children(v, key)...)
		}
		found = next
	}
	return found
}

func children(value any, key string) []any {
	switch v := value.(type) {
	case map[string]any:
		if child, ok := v[key]; ok {
			return []any{child}
		}
	case []any:
		if key == "*" {
			return v
		}
		if i, err := strconv.Atoi(key); err == nil && i < len(v) {
			return []any{v[i]}
		}
	}
	return nil
}

// matches reports what is wrong when none of the values found is as wanted.
func matches(found []any, want string) error {
	switch want {
	case "absent":
		if len(found) > 0 {
			return fmt.Errorf("there is %.2000s", encodeText(found))
		}
		return nil
	case "present":
		if len(found) == 0 {
			return errors.New("there is nothing")
		}
		return nil
	}
	pattern, none := strings.CutPrefix(want, "unlike ")
	if none {
		want = "like " + pattern
	}
	wanted, err := condition(want)
	if err != nil {
		return fmt.Errorf("the wanted value: %w", err)
	}
	if slices.ContainsFunc(found, wanted) == none {
		return fmt.Errorf("there is %.2000s", encodeText(found))
	}
	return nil
}

func condition(want string) (func(value any) bool, error) {
	if part, ok := strings.CutPrefix(want, "has "); ok {
		return func(v any) bool { return strings.Contains(plainText(v), part) }, nil
	}
	if pattern, ok := strings.CutPrefix(want, "like "); ok {
		re, err := regexp.Compile("^(?:" + pattern + ")$")
		return func(v any) bool { return re.MatchString(plainText(v)) }, err
	}
	wanted, err := decodeAny([]byte(want))
	return func(v any) bool { return reflect.DeepEqual(v, wanted) }, err
}

// plainText is a text without its quotes; other values are as in JSON.
func plainText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return encodeText(v)
}
