package data

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileSet names the files of a published data set and where to get them.
type FileSet struct {
	Name    string   // also the name of the folder that holds them, such as "mnist"
	Folders []string // other names of that folder, such as the one that a published archive has
	Files   []File   // all are needed
	Instead []string // folders that may stand in their place, all of them; without Files they are what is needed
	Archive *File    // the .tar.gz or .zip that the files are published in, if they are
	Mirrors []string // https addresses that the name of a file, or of the archive, is appended to, best first
	Source  string   // where people get the files
}

// remedy says what to do about files that are not there.
func (s FileSet) remedy() string {
	switch {
	case s.Source == "" && len(s.Mirrors) == 0:
		return "give the directory that they lie in with -data"
	case s.Source == "":
		return "give the directory of the files with -data, or fetch them with -download"
	case len(s.Mirrors) > 0:
		return "fetch them with -download, or get them from " + s.Source + " and give their directory with -data"
	}
	return byHand + "get them from " + s.Source + " and give their directory with -data"
}

// byHand tells whoever has asked Download for a set why nothing came.
const byHand = "they have to be fetched by hand: "

// File is one file of a FileSet, as it is published.
type File struct {
	Name    string   // where it has a *, that stands for any characters, and there may be several files
	Aliases []string // other names under which Locate accepts it, such as unpacked ones
	Size    int64    // in bytes; 0: not known
	SHA256  string   // in hexadecimal
	MD5     string   // in hexadecimal, where no SHA-256 is published: it tells damage, not forgery
}

// hasInstead reports whether dir holds folders in the place of the set's files.
func (s FileSet) hasInstead(dir string) bool {
	return len(s.Instead) > 0 && len(s.missingFolders(dir)) == 0
}

// missingFolders returns which of the folders in the place of files are not in dir.
func (s FileSet) missingFolders(dir string) []string {
	var missing []string
	for _, name := range s.Instead {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			missing = append(missing, name)
		}
	}
	return missing
}

// at returns the path in dir of the file, or, with a * in its name, of all of them, in
// the order of their published names. Each is taken under the first of its names that is there.
func (f File) at(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	at := map[string]string{} // by the published name
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		for _, e := range entries {
			star, ok := match(name, e.Name())
			published := strings.Replace(f.Name, "*", star, 1)
			if !ok || at[published] != "" {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				at[published] = path
			}
		}
	}
	var paths []string
	for _, published := range slices.Sorted(maps.Keys(at)) {
		paths = append(paths, at[published])
	}
	return paths
}

// match reports whether name stands for a file, and what its * then stands for.
func match(name, file string) (star string, ok bool) {
	before, behind, several := strings.Cut(name, "*")
	if !several {
		return "", file == name
	}
	rest, ok := strings.CutPrefix(file, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, behind)
}

// find returns the path in dir of every file of the set, under the first of its
// names that is there; of several that one name stands for, the first.
func (s FileSet) find(dir string) ([]string, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		e := &FileError{Path: dir, Problem: "not a directory", Remedy: s.remedy(), Err: err}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.Problem = "no such directory"
		case err != nil:
			e.Problem = "cannot be read: " + cause(err).Error()
		}
		return nil, e
	}
	paths := make([]string, len(s.Files))
	var missing []string
	for i, f := range s.Files {
		if at := f.at(dir); len(at) > 0 {
			paths[i] = at[0]
		} else {
			missing = append(missing, f.Name)
		}
	}
	n, what := len(s.Files), "files"
	if n == 0 {
		missing, n, what = s.missingFolders(dir), len(s.Instead), "folders"
	}
	if len(missing) == 0 {
		return paths, nil
	}
	problem := fmt.Sprintf("%d of the %d %s of %s are missing (%s)", len(missing), n, what, s.Name, strings.Join(missing, ", "))
	if s.Archive != nil {
		if _, err := os.Stat(filepath.Join(dir, s.Archive.Name)); err == nil {
			problem += ", but " + s.Archive.Name + " is there, which -download unpacks"
		}
	}
	return nil, &FileError{
		Path:    dir,
		Problem: problem,
		Remedy:  s.remedy(),
		Err:     fs.ErrNotExist,
	}
}

// NotFoundError is Locate's error: the places where it looked in vain, and why
// each did not do. It is fs.ErrNotExist to errors.Is.
type NotFoundError struct {
	Set   string
	Tried []string // "where: what was wrong"
	// Source is where people find the files, Fetchable whether Download can fetch
	// them.
	Source    string
	Fetchable bool
}

func (e *NotFoundError) Error() string {
	remedy := "give their directory with -data or NOETHER_DATA"
	if e.Source != "" {
		remedy = "get them from " + e.Source + " and " + remedy
	}
	switch {
	case e.Fetchable:
		remedy = "fetch them with -download, or " + remedy
	case e.Source != "":
		remedy = byHand + remedy
	}
	return fmt.Sprintf("data: the files of %s were not found; looked in %s; %s", e.Set, strings.Join(e.Tried, "; "), remedy)
}

// Is reports whether target is fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// Locate returns a directory that holds all files of the set. Where explicit is
// given (the user named a directory), only it is searched: another copy than the
// one that was asked for would be a surprise. Otherwise the places are
// $NOETHER_DATA, then noether in the user's cache directory (os.UserCacheDir).
// In each place the files may lie directly or in a folder called set.Name or as
// one of set.Folders. The error is a *NotFoundError. Locate looks at names only; reading checks contents.
func Locate(explicit string, set FileSet) (string, error) {
	e := &NotFoundError{Set: set.Name, Source: set.Source, Fetchable: len(set.Mirrors) > 0}
	try := func(label, place string) string {
		_, err := set.find(place)
		if err == nil || set.hasInstead(place) {
			return place
		}
		above := place
		for _, name := range append([]string{set.Name}, set.Folders...) {
			folder := filepath.Join(above, name)
			if info, statErr := os.Stat(folder); statErr == nil && info.IsDir() {
				place = folder // if this fails too, it is the more telling failure
				if _, err = set.find(folder); err == nil || set.hasInstead(folder) {
					return folder
				}
			}
		}
		var f *FileError
		if errors.As(err, &f) {
			err = errors.New(f.Problem)
		}
		e.Tried = append(e.Tried, fmt.Sprintf("%s %s: %v", label, oneLine(place), err))
		return ""
	}
	if explicit != "" {
		if dir := try("the given directory", explicit); dir != "" {
			return dir, nil
		}
		return "", e
	}
	if env := os.Getenv("NOETHER_DATA"); env != "" {
		if dir := try("$NOETHER_DATA", env); dir != "" {
			return dir, nil
		}
	} else {
		e.Tried = append(e.Tried, "$NOETHER_DATA (not set)")
	}
	if cache, err := os.UserCacheDir(); err != nil {
		e.Tried = append(e.Tried, "the user cache directory (unknown: "+oneLine(err.Error())+")")
	} else if dir := try("the user cache directory", filepath.Join(cache, "noether")); dir != "" {
		return dir, nil
	}
	return "", e
}

// DownloadDir returns the directory that Download is best given, one where
// Locate, called with the same explicit directory, will look: that directory
// itself, or a folder called set.Name in $NOETHER_DATA or else in noether in the
// user's cache directory.
func DownloadDir(explicit string, set FileSet) (string, error) {
	if explicit != "" {
		return explicit, nil
	}
	if env := os.Getenv("NOETHER_DATA"); env != "" {
		return filepath.Join(env, set.Name), nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("data: no place to keep %s: the user cache directory is unknown (%w); name a directory with -data or NOETHER_DATA", set.Name, err)
	}
	return filepath.Join(cache, "noether", set.Name), nil
}
