package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
)

// Files of a run directory.
const (
	configFile  = "config.toml"
	metricsFile = "metrics.jsonl"     // a line per epoch: model.EpochMetrics
	resultFile  = "result.json"       // see result
	lastFile    = "last.safetensors"  // weights after the last completed epoch
	bestFile    = "best.safetensors"  // weights of the best epoch by validation
	stateFile   = "state.safetensors" // what resuming needs
	reportFile  = "report.html"       // self-contained
	lockFile    = ".lock"             // held while a process works in the directory

	// rotationFile is the report's picture of the answer against the rotation.
	rotationFile = "rotation.svg"
)

// runDir is the directory of one run. All its files are replaced as a whole.
type runDir struct {
	path string
	lock *os.File
	made madeDirs // of a new run
}

// newRunDir makes a directory for a new run and writes its configuration. It
// refuses one that already holds a run. Without a path it makes one of its own
// below runs.
func newRunDir(path string, c *config.Config) (*runDir, error) {
	own := path == ""
	path, made, err := makeDir(path, c.Preset)
	switch {
	case err != nil && own:
		return nil, fmt.Errorf("run directory: %w; give another directory with -out", err)
	case err != nil:
		return nil, fmt.Errorf("-out: %w; give another directory", err)
	}
	d, err := openRunDir(path)
	if err != nil {
		made.remove()
		return nil, fmt.Errorf("-out: %w; give another directory", err)
	}
	d.made = made
	if err := d.begin(c); err != nil {
		d.close()
		made.remove()
		return nil, err
	}
	return d, nil
}

// begin writes the configuration of a new run, where there is none of another.
func (d *runDir) begin(c *config.Config) error {
	switch {
	case d.has(configFile):
		return usageError{fmt.Errorf("-out: %s already holds a run; go on with it by -resume %s, or give another directory", d.path, d.path)}
	case d.holdsFiles() != "":
		return usageError{fmt.Errorf("-out: %s holds %s of a run without its %s; move that away, or give another directory", d.path, d.holdsFiles(), configFile)}
	}
	if err := d.writeConfig(c); err != nil {
		return fmt.Errorf("-out: %w; make room or give another directory", err)
	}
	return nil
}

// madeDirs are directories that were made, the innermost first.
type madeDirs []string

// makeDir makes a directory with those above it. Without a path it makes one of its own
// below runs, of that name and the time.
func makeDir(path, name string) (dir string, made madeDirs, err error) {
	if path == "" {
		made = missingDirs("runs")
		if path, err = freshName(filepath.Join("runs", name+"-"+time.Now().Format("20060102-150405"))); err == nil {
			made = slices.Insert(made, 0, path)
		}
	} else {
		made = missingDirs(path)
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		made.remove()
	}
	return path, made, err
}

// remove removes them as far as they are empty: a failed start leaves nothing behind.
func (m madeDirs) remove() {
	for _, dir := range m {
		os.Remove(dir)
	}
}

// missingDirs returns which of a directory and those above it are not there.
func missingDirs(dir string) (missing madeDirs) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	return missing
}

// freshName makes a directory of that name, or of the name with the first
// number behind it that is free.
func freshName(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	name := path
	for i := 2; ; i++ {
		err := os.Mkdir(name, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return name, err
		}
		name = fmt.Sprintf("%s-%d", path, i)
	}
}

// errInUse is why openRunDir cannot take a lock that another process holds.
var errInUse = errors.New("in use by another process")

// openRunDir takes the lock of a directory that exists.
func openRunDir(path string) (*runDir, error) {
	d := &runDir{path: path}
	for d.lock == nil {
		lock, err := os.OpenFile(d.file(lockFile), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, fmt.Errorf("run directory: %w", err)
		}
		if err := tryLock(lock); err != nil {
			lock.Close()
			return nil, fmt.Errorf("run directory: %s is %w", path, errInUse)
		}
		held, err := lock.Stat()
		if err != nil {
			lock.Close()
			return nil, fmt.Errorf("run directory: %w", err)
		}
		// Between opening and locking, its last owner may have removed it.
		if there, err := os.Stat(d.file(lockFile)); err == nil && os.SameFile(held, there) {
			d.lock = lock
		} else {
			lock.Close()
		}
	}
	// Nobody else writes here now: what a killed process left half-written can go.
	if err := atomicfile.Clean(path); err != nil {
		d.close()
		return nil, fmt.Errorf("run directory: %w", err)
	}
	return d, nil
}

func (d *runDir) file(name string) string { return filepath.Join(d.path, name) }

// has reports whether the directory holds a file of that name.
func (d *runDir) has(name string) bool {
	_, err := os.Stat(d.file(name))
	return err == nil
}

// holdsFiles returns the name of a file that a run would replace, "" for none.
func (d *runDir) holdsFiles() string {
	for _, name := range []string{bestFile, lastFile, stateFile, resultFile, metricsFile, reportFile, rotationFile} {
		if d.has(name) {
			return name
		}
	}
	return ""
}

// close gives the lock back. The lock file goes with it.
func (d *runDir) close() {
	os.Remove(d.file(lockFile))
	d.lock.Close()
}

// inTurn writes files up to the first that cannot be written.
func inTurn(writes ...func() error) error {
	for _, write := range writes {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// writeConfig writes the configuration that the run was started with.
func (d *runDir) writeConfig(c *config.Config) error {
	return atomicfile.WriteFile(d.file(configFile), func(w io.Writer) error {
		e := toml.NewEncoder(w)
		e.Indent = ""
		return e.Encode(c)
	})
}

// holdsNoRun is the mistake of naming a directory without a run.
func (d *runDir) holdsNoRun() error {
	return usageError{fmt.Errorf("%s holds no run (%s is missing); name the directory that a run printed", d.path, configFile)}
}

// readConfig reads the configuration that a run was started with.
func (d *runDir) readConfig() (*config.Config, error) {
	text, err := os.ReadFile(d.file(configFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, d.holdsNoRun()
	}
	if err != nil {
		return nil, err
	}
	c := config.Blank()
	if err := c.Merge(string(text), d.file(configFile)); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", d.file(configFile), err)}
	}
	return &c, nil
}

// writeMetrics writes one line per completed epoch. The file is written anew
// each time: it is small, and a resumed run may repeat an epoch.
func (d *runDir) writeMetrics(epochs []model.EpochMetrics) error {
	return atomicfile.WriteFile(d.file(metricsFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		for _, m := range epochs {
			if err := e.Encode(m); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeJSON writes v, indented.
func (d *runDir) writeJSON(name string, v any) error {
	return atomicfile.WriteFile(d.file(name), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}
