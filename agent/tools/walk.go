package tools

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// walkFiles calls visit for every regular file below root that no ignore file
// excludes, from several goroutines at once; it returns when all have ended.
// Symbolic links are not followed, and the insides of version control are left
// out. Folders that cannot be read are passed over and counted. visit returns
// false to end the walk.
func walkFiles(ctx context.Context, root string, visit func(path string) bool) (unreadable int) {
	w := &walk{visit: visit}
	w.idle.L = &w.mu
	w.pending = []walkItem{{dir: root, rules: ignoreRulesAbove(root)}}
	stop := context.AfterFunc(ctx, w.stop)
	defer stop()

	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(w.work)
	}
	wg.Wait()
	return w.unreadable
}

// walk is the state that a walk's goroutines share.
type walk struct {
	visit func(path string) bool

	mu         sync.Mutex
	idle       sync.Cond
	pending    []walkItem // taken from the end
	working    int
	stopped    bool
	unreadable int
}

// walkItem is a folder to read, or files of one to visit.
type walkItem struct {
	dir   string
	rules *ignoreRules
	files []string // names; nil for a folder to read
}

// walkBatch is how many files of one folder a goroutine takes at a time.
const walkBatch = 64

func (w *walk) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.idle.Broadcast()
}

func (w *walk) work() {
	for {
		item, ok := w.next()
		if !ok {
			return
		}
		var more []walkItem
		if item.files == nil {
			item.files, more = w.readFolder(item)
		}
		if len(item.files) > walkBatch {
			more = append(more, walkItem{dir: item.dir, files: item.files[walkBatch:]})
			item.files = item.files[:walkBatch]
		}
		w.add(more)
		for _, name := range item.files {
			if !w.visit(item.dir + string(filepath.Separator) + name) {
				w.stop()
				break
			}
		}
		w.done()
	}
}

// next takes an item. It waits while there is none but others may add some.
func (w *walk) next() (walkItem, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) == 0 && w.working > 0 && !w.stopped {
		w.idle.Wait()
	}
	if w.stopped || len(w.pending) == 0 {
		return walkItem{}, false
	}
	item := w.pending[len(w.pending)-1]
	w.pending = w.pending[:len(w.pending)-1]
	w.working++
	return item, true
}

func (w *walk) add(items []walkItem) {
	if len(items) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, items...)
	w.idle.Broadcast()
}

func (w *walk) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.working--; w.working == 0 {
		w.idle.Broadcast()
	}
}

// readFolder returns a folder's files and the folders below it.
func (w *walk) readFolder(item walkItem) (files []string, folders []walkItem) {
	entries, err := readEntries(item.dir)
	if err != nil {
		w.mu.Lock()
		w.unreadable++
		w.mu.Unlock()
		return nil, nil
	}
	rules := item.rules
	if hasIgnoreFile(entries) {
		rules = rules.below(item.dir)
	}
	for _, entry := range entries {
		name := entry.Name()
		isDir := entry.IsDir()
		if !isDir && entry.Type() != 0 || isDir && isVersionControl(name) {
			continue
		}
		path := item.dir + string(filepath.Separator) + name
		switch {
		case rules.ignores(path, name, isDir):
		case isDir:
			folders = append(folders, walkItem{dir: path, rules: rules})
		default:
			files = append(files, name)
		}
	}
	return files, folders
}

// readEntries reads a folder in no particular order.
func readEntries(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer discardClose(f)
	return f.ReadDir(-1)
}

func hasIgnoreFile(entries []fs.DirEntry) bool {
	for _, entry := range entries {
		switch entry.Name() {
		case ".gitignore", ".ignore", ".git":
			return true
		}
	}
	return false
}

func isVersionControl(name string) bool {
	return name == ".git" || name == ".hg" || name == ".svn" || name == ".jj"
}
