package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OpenAttachment opens a file that the person attached to a prompt, for reading.
// A file outside the workspace asks first; one that holds credentials is
// refused, whoever attached it.
type OpenAttachment func(ctx context.Context, path string) (fs.File, error)

// ErrCredentials means that an attached file holds credentials, which no model
// is shown.
var ErrCredentials = errors.New("it may hold credentials, so it is not shown to the model")

var errNotRegular = errors.New("it is not a regular file")

// openAttachment is the turn's OpenAttachment. A question about the file has a
// card of its own, like every question.
func (r *run) openAttachment(ctx context.Context, path string) (fs.File, error) {
	path, err := r.ws.Resolve(path)
	if err != nil {
		return nil, err
	}
	target, err := ResolveLinks(path)
	if err != nil {
		return nil, err
	}
	if holdsCredentials(path) || holdsCredentials(target) {
		return nil, ErrCredentials
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if r.session.approvals.ruleReads([]string{path}, r.ws).asks {
		if err := r.askForAttachment(ctx, path); err != nil {
			return nil, err
		}
	}
	return os.Open(target)
}

func (r *run) askForAttachment(ctx context.Context, path string) error {
	call := CallInfo{
		ID: r.session.claimCallID(""), Tool: "read_attachment", Kind: KindRead, Known: true,
		Title:     "Attached file: " + path,
		Locations: []Location{{Path: path}},
		Access:    Access{Reads: []string{path}},
	}
	tell := context.WithoutCancel(ctx)
	r.emit(tell, CallStarted{Call: call})
	_, err := r.session.approvals.Allow(ctx, call, r.ws, r.session.mode())
	ended := CallEnded{Call: call, Err: err}
	if err == nil {
		ended.Result.Display = fmt.Sprintf("Attached %s.", filepath.Base(path))
	}
	r.emit(tell, ended)
	return err
}

// holdsCredentials judges a file by its name and folders. It is narrower than
// Sensitive: a person may well show a model an editor's settings.
func holdsCredentials(p string) bool {
	elements := strings.Split(strings.ToLower(filepath.ToSlash(p)), "/")
	for _, secret := range []string{".ssh", ".gnupg", ".aws", ".kube", ".hermes"} {
		if slices.Contains(elements, secret) {
			return true
		}
	}
	return isSensitiveName(elements[len(elements)-1])
}
