package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ProviderChoice is a provider as a person can choose it.
type ProviderChoice struct {
	Name    string
	KeyName string // empty when none is needed
	Model   string // its default; empty when one must be named
	// NeedsBaseURL says that only the person knows where it is.
	NeedsBaseURL bool
}

// ProviderChoices are the providers of the table.
func ProviderChoices() []ProviderChoice {
	var choices []ProviderChoice
	for _, p := range providers() {
		c := ProviderChoice{Name: p.name, Model: p.model, NeedsBaseURL: p.name == Custom}
		if len(p.keyVars) > 0 {
			c.KeyName = p.keyVars[0]
		}
		choices = append(choices, c)
	}
	return choices
}

// HasKey reports whether a key of the named provider is set, in .env or in the
// environment, or none is needed. A configuration that cannot be read has none.
func (s Source) HasKey(provider string) bool {
	c, err := s.Read()
	if err != nil {
		return false
	}
	p, ok := c.provider(provider)
	if !ok {
		return false
	}
	key, _ := keyIn(c.env.get, p)
	return key != "" || p.keyOptional || len(p.keyVars) == 0
}

// Selection is what a set-up stores.
type Selection struct {
	Provider, Model, BaseURL string
	KeyName                  string
	Key                      Secret // empty leaves .env as it is
}

// Save stores a selection: the key in .env, the rest in config.yaml. Everything
// else in the two files stays as it is, comments included. Files are replaced
// atomically and readable by their owner only.
func (s Source) Save(sel Selection) error {
	if err := os.MkdirAll(s.Home, 0o700); err != nil {
		return fmt.Errorf("save the configuration: %w", err)
	}
	if sel.Key != "" {
		err := edit(filepath.Join(s.Home, ".env"), func(text string) (string, error) {
			return setDotenv(text, sel.KeyName, string(sel.Key))
		})
		if err != nil {
			return err
		}
	}
	return edit(filepath.Join(s.Home, "config.yaml"), func(text string) (string, error) {
		return setModel(text, sel)
	})
}

// edit replaces a file by its changed text.
func edit(path string, change func(string) (string, error)) error {
	old, err := readFile(path)
	if err != nil {
		return err
	}
	text, err := change(old)
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	// A link to a file elsewhere, as dotfile managers make, stays one.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".hermes-acp-*") // 0600
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	_, err = tmp.WriteString(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", path, errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}

// setDotenv gives a variable a value: in its own line where it has one, else in
// a new last line.
func setDotenv(text, name, value string) (string, error) {
	if strings.ContainsAny(value, "\r\n'") {
		return "", errors.New("the key holds a line break or a quote")
	}
	line := name + "='" + value + "'"
	lines := strings.SplitAfter(text, "\n")
	for i, old := range lines {
		key, _, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(old), "export "), "=")
		if found && strings.TrimSpace(key) == name {
			end := old[len(strings.TrimRight(old, "\r\n")):]
			lines[i] = line + end
			return strings.Join(lines, ""), nil
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line + "\n", nil
}

// setModel sets model.provider, model.default and model.base_url.
func setModel(text string, sel Selection) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	if doc.Kind == 0 {
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return "", errors.New("it does not hold a mapping")
	}
	model := child(root, "model")
	if model.Kind != yaml.MappingNode { // a plain name, or nothing yet
		*model = yaml.Node{Kind: yaml.MappingNode}
	}
	setScalar(model, "provider", sel.Provider)
	setScalar(model, "default", sel.Model)
	setScalar(model, "base_url", sel.BaseURL)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return "", err
	}
	return out.String(), nil
}

// child returns the value of a key, which it adds when it is missing.
func child(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	value := &yaml.Node{}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	return value
}

// setScalar sets a key, or removes it for an empty value.
func setScalar(mapping *yaml.Node, key, value string) {
	if value != "" {
		v := child(mapping, key)
		*v = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, LineComment: v.LineComment, HeadComment: v.HeadComment}
		return
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = append(mapping.Content[:i], mapping.Content[i+2:]...)
			return
		}
	}
}
