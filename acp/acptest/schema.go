package acptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Schema is one release of the ACP JSON schema. It knows, for each method, the
// shape of its params and of its result.
type Schema struct {
	name    string
	defs    map[string]*rule
	params  map[endpoint]*rule
	results map[endpoint]*rule
}

// endpoint is a method and the side that serves it: agent, client, or protocol
// for both.
type endpoint struct{ side, method string }

// rule holds the JSON Schema keywords that the ACP schemas use. LoadSchema
// refuses a file with any other keyword, so that no rule is passed over.
type rule struct {
	Ref                  string           `json:"$ref"`
	Type                 typeNames        `json:"type"`
	Const                any              `json:"const"`
	Enum                 []any            `json:"enum"`
	Required             []string         `json:"required"`
	Properties           map[string]*rule `json:"properties"`
	AdditionalProperties *ruleOrBool      `json:"additionalProperties"`
	Items                *rule            `json:"items"`
	AllOf                []*rule          `json:"allOf"`
	AnyOf                []*rule          `json:"anyOf"`
	OneOf                []*rule          `json:"oneOf"`
	Not                  *rule            `json:"not"`
	Minimum              *float64         `json:"minimum"`
	Maximum              *float64         `json:"maximum"`
	MinLength            int              `json:"minLength"`
	Format               string           `json:"format"`

	Method string `json:"x-method"`
	Side   string `json:"x-side"`

	// What follows says nothing about validity.
	Defs                  map[string]*rule `json:"$defs"`
	SchemaURI             string           `json:"$schema"`
	Title                 string           `json:"title"`
	Description           string           `json:"description"`
	Default               any              `json:"default"`
	Discriminator         any              `json:"discriminator"`
	UnevaluatedProperties *permitted       `json:"unevaluatedProperties"`
	DocsIgnore            bool             `json:"x-docs-ignore"`
	DefaultOnError        bool             `json:"x-deserialize-default-on-error"`
	DefaultOnNull         bool             `json:"x-deserialize-default-on-null"`
	SkipInvalidItems      bool             `json:"x-deserialize-skip-invalid-items"`
}

// LoadSchema reads a schema file as the protocol's releases carry it.
func LoadSchema(path string) (*Schema, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read ACP schema: %w", err)
	}
	var root rule
	if err := decodeStrictly(data, &root); err != nil {
		return nil, fmt.Errorf("read ACP schema %s: %w", path, err)
	}
	s := &Schema{
		name:    path,
		defs:    root.Defs,
		params:  make(map[endpoint]*rule),
		results: make(map[endpoint]*rule),
	}
	for name, def := range root.Defs {
		at := endpoint{def.Side, def.Method}
		switch {
		case def.Method == "":
		case strings.HasSuffix(name, "Response"):
			s.results[at] = def
		default:
			s.params[at] = def
		}
	}
	if len(s.params) == 0 || len(s.results) == 0 {
		return nil, fmt.Errorf("read ACP schema %s: it describes no methods", path)
	}
	return s, nil
}

// unknownKeys returns the keys of an object that its definition does not name,
// which the protocol forbids everywhere but in _meta.
func (s *Schema) unknownKeys(def *rule, object map[string]any) []string {
	var unknown []string
	for key := range object {
		if !s.names(def, key) {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	return unknown
}

func (s *Schema) names(def *rule, key string) bool {
	if def.Ref != "" {
		return s.names(s.resolve(def.Ref), key)
	}
	if _, ok := def.Properties[key]; ok {
		return true
	}
	for _, part := range slices.Concat(def.AllOf, def.AnyOf, def.OneOf) {
		if s.names(part, key) {
			return true
		}
	}
	return false
}

func (s *Schema) resolve(ref string) *rule {
	def := s.defs[strings.TrimPrefix(ref, "#/$defs/")]
	if def == nil {
		return &rule{Not: &rule{}} // a dangling reference allows nothing
	}
	return def
}

// mismatch is the first place where a value breaks a rule.
type mismatch struct {
	path []string
	text string
}

func (m *mismatch) Error() string { return "/" + strings.Join(m.path, "/") + ": " + m.text }

// check returns nil when value, decoded with json.Number, obeys r.
func (s *Schema) check(r *rule, value any, path []string) *mismatch {
	broken := func(format string, args ...any) *mismatch {
		return &mismatch{slices.Clone(path), fmt.Sprintf(format, args...)}
	}
	if r.Ref != "" {
		if m := s.check(s.resolve(r.Ref), value, path); m != nil {
			return m
		}
	}
	if len(r.Type) > 0 && !r.Type.include(value) {
		return broken("is %s, want %s", describe(value), strings.Join(r.Type, " or "))
	}
	if r.Const != nil && !equal(r.Const, value) {
		return broken("is %s, want %v", describe(value), r.Const)
	}
	if len(r.Enum) > 0 && !slices.ContainsFunc(r.Enum, func(e any) bool { return equal(e, value) }) {
		return broken("is %s, want one of %v", describe(value), r.Enum)
	}
	switch v := value.(type) {
	case map[string]any:
		if m := s.checkObject(r, v, path); m != nil {
			return m
		}
	case []any:
		if r.Items == nil {
			break
		}
		for i, item := range v {
			if m := s.check(r.Items, item, append(path, strconv.Itoa(i))); m != nil {
				return m
			}
		}
	case json.Number:
		if text := r.outOfRange(v); text != "" {
			return broken("%s", text)
		}
	case string:
		if utf8.RuneCountInString(v) < r.MinLength {
			return broken("is shorter than %d characters", r.MinLength)
		}
	}
	return s.checkCombinations(r, value, path)
}

func (s *Schema) checkObject(r *rule, object map[string]any, path []string) *mismatch {
	for _, key := range r.Required {
		if _, ok := object[key]; !ok {
			return &mismatch{slices.Clone(path), "lacks " + key}
		}
	}
	for key, value := range object {
		property := r.Properties[key]
		if property == nil && r.AdditionalProperties != nil {
			property = r.AdditionalProperties.rule
		}
		if property == nil {
			continue
		}
		if m := s.check(property, value, append(path, key)); m != nil {
			return m
		}
	}
	return nil
}

func (s *Schema) checkCombinations(r *rule, value any, path []string) *mismatch {
	for _, part := range r.AllOf {
		if m := s.check(part, value, path); m != nil {
			return m
		}
	}
	if len(r.AnyOf) > 0 {
		if matches, closest := s.countMatches(r.AnyOf, value, path); matches == 0 {
			return closest
		}
	}
	if len(r.OneOf) > 0 {
		matches, closest := s.countMatches(r.OneOf, value, path)
		if matches == 0 {
			return closest
		}
		if matches > 1 {
			return &mismatch{slices.Clone(path), fmt.Sprintf("fits %d variants, want one", matches)}
		}
	}
	if r.Not != nil && s.check(r.Not, value, path) == nil {
		return &mismatch{slices.Clone(path), "fits what is ruled out here"}
	}
	return nil
}

// countMatches returns how many variants value fits, and the mismatch of the
// variant it resembles most: the one that failed deepest inside, or for
// another reason than its discriminator.
func (s *Schema) countMatches(variants []*rule, value any, path []string) (matches int, closest *mismatch) {
	best := -1
	for _, variant := range variants {
		m := s.check(variant, value, path)
		if m == nil {
			matches++
			continue
		}
		closeness := 2 * len(m.path)
		if s.sameDiscriminator(variant, value) {
			closeness += 1000
		}
		if closeness > best {
			best, closest = closeness, m
		}
	}
	return matches, closest
}

func (s *Schema) sameDiscriminator(variant *rule, value any) bool {
	object, _ := value.(map[string]any)
	for key, property := range variant.Properties {
		if property.Const != nil {
			return equal(property.Const, object[key])
		}
	}
	return false
}

func (r *rule) outOfRange(n json.Number) string {
	value, err := n.Float64()
	if err != nil {
		return err.Error()
	}
	if r.Minimum != nil && value < *r.Minimum {
		return fmt.Sprintf("is %s, less than %g", n, *r.Minimum)
	}
	if r.Maximum != nil && value > *r.Maximum {
		return fmt.Sprintf("is %s, more than %g", n, *r.Maximum)
	}
	bits, isInteger := map[string]int{"uint16": 16, "uint32": 32, "uint64": 64, "int32": 32, "int64": 64}[r.Format]
	if !isInteger {
		return ""
	}
	if strings.HasPrefix(r.Format, "uint") {
		_, err = strconv.ParseUint(n.String(), 10, bits)
	} else {
		_, err = strconv.ParseInt(n.String(), 10, bits)
	}
	if err != nil {
		return fmt.Sprintf("is %s, want a %s", n, r.Format)
	}
	return ""
}

// typeNames is the keyword `type`: one name or a list of them.
type typeNames []string

func (t *typeNames) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		return json.Unmarshal(data, (*[]string)(t))
	}
	*t = typeNames{""}
	return json.Unmarshal(data, &(*t)[0])
}

func (t typeNames) include(value any) bool {
	name := typeOf(value)
	return slices.Contains(t, name) || name == "integer" && slices.Contains(t, "number")
}

// ruleOrBool is the keyword `additionalProperties`: true, or a rule for them.
type ruleOrBool struct{ rule *rule }

func (o *ruleOrBool) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		return decodeStrictly(data, &o.rule)
	}
	var always permitted
	return json.Unmarshal(data, &always)
}

// permitted is a keyword that may only say true, which forbids nothing.
type permitted bool

func (p *permitted) UnmarshalJSON(data []byte) error {
	if string(data) != "true" {
		return fmt.Errorf("unsupported value %s, want true", data)
	}
	*p = true
	return nil
}

func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if f, err := v.Float64(); err == nil && f == float64(int64(f)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func describe(value any) string {
	text, err := json.Marshal(value)
	if err != nil || len(text) > 60 {
		return "a " + typeOf(value)
	}
	return string(text)
}

func equal(want, got any) bool {
	a, errA := json.Marshal(want)
	b, errB := json.Marshal(got)
	return errors.Join(errA, errB) == nil && bytes.Equal(a, b)
}

func decodeStrictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber()
	return d.Decode(into)
}
