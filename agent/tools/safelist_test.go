package tools

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page for people lists the safe commands and git verbs, all of them and no
// others.
func TestApprovalsPageShowsTheSafeList(t *testing.T) {
	page, err := os.ReadFile("../../docs/approvals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(page), "### The safe list")
	if !ok {
		t.Fatal("the page has no safe list")
	}
	list, _, _ = strings.Cut(list, "A repository's configuration")
	var shown []string
	for row := range strings.SplitSeq(list, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		names := cells[1]
		if strings.TrimSpace(names) == "`git`" {
			names += cells[2]
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			shown = append(shown, name[1])
		}
	}

	want := []string{"git", "find", "sed", "test", "[", "command -v"}
	for _, c := range safeCommands() {
		want = append(want, strings.Fields(c.names)...)
	}
	for _, v := range safeGitVerbs() {
		want = append(want, v.name)
	}
	for _, name := range want {
		if !slices.Contains(shown, name) {
			t.Errorf("%s is on the list, not on the page", name)
		}
	}
	for _, name := range shown {
		if !slices.Contains(want, name) {
			t.Errorf("%s is on the page, not on the list", name)
		}
	}
}
