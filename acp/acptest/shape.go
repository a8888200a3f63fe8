package acptest

import (
	"encoding/json"
	"slices"
	"strings"
)

// newerUpdates are variants of session/update that the SDK's schema does not
// know yet. They are sent only to clients that ask for them.
var newerUpdates = []string{"notice", "compaction_update", "compaction_summary_chunk"}

// olderKeys are fields of an earlier protocol that are still sent beside the
// present ones, for clients that know no others.
var olderKeys = []string{"models"}

// olderMethods are served though no schema knows them any more.
var olderMethods = []string{"session/set_model"}

func (s *Schema) paramsRule(at endpoint) *rule { return s.params[at] }
func (s *Schema) resultRule(at endpoint) *rule { return s.results[at] }

// checkShape holds one params or result object to every schema that knows it.
func (c *Checker) checkShape(what string, at endpoint, text json.RawMessage, ruleOf func(*Schema, endpoint) *rule) {
	var value any
	if len(text) > 0 {
		if err := decodeStrictly(text, &value); err != nil {
			c.report("%s: %v", what, err)
			return
		}
	}
	object, _ := value.(map[string]any)
	var unknown []string // keys that no schema names
	known := false
	for _, s := range c.schemas {
		def := ruleOf(s, at)
		if def == nil || at.method == "session/update" && !s.knowsUpdate(object) {
			continue
		}
		if m := s.check(def, value, nil); m != nil {
			c.report("%s does not fit %s: %v", what, s.name, m)
		}
		keys := s.unknownKeys(def, object)
		if known {
			keys = slices.DeleteFunc(keys, func(k string) bool { return !slices.Contains(unknown, k) })
		}
		unknown, known = keys, true
	}
	for _, key := range unknown {
		if !slices.Contains(olderKeys, key) {
			c.report("%s has the key %q, which the protocol does not name", what, key)
		}
	}
	if !known && !c.mayBeUnknown(at.method, object) {
		c.report("%s is known to no schema: %s", what, excerpt(text))
	}
}

func (c *Checker) mayBeUnknown(method string, params map[string]any) bool {
	return strings.HasPrefix(method, "_") || slices.Contains(olderMethods, method) ||
		method == "session/update" && slices.Contains(newerUpdates, updateKind(params))
}

// knowsUpdate reports whether s describes the variant of a session/update.
func (s *Schema) knowsUpdate(params map[string]any) bool {
	variants := s.defs["SessionUpdate"]
	return slices.ContainsFunc(slices.Concat(variants.OneOf, variants.AnyOf), func(v *rule) bool {
		kind := v.Properties["sessionUpdate"]
		return kind != nil && kind.Const == updateKind(params)
	})
}

func updateKind(params map[string]any) string {
	update, _ := params["update"].(map[string]any)
	kind, _ := update["sessionUpdate"].(string)
	return kind
}

func (c *Checker) checkError(text json.RawMessage, method string) {
	var value any
	if err := decodeStrictly(text, &value); err != nil {
		c.report("error of %s: %v", method, err)
		return
	}
	for _, s := range c.schemas {
		if m := s.check(&rule{Ref: "#/$defs/Error"}, value, nil); m != nil {
			c.report("the error of %s does not fit %s: %v", method, s.name, m)
		}
	}
}
