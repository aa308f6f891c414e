package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// version names this program: by the release and the revision that the Go tool recorded
// in it, and where it recorded none, or a modified one, also by the program's own hash.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return versionOf(info, programHash)
}

func versionOf(info *debug.BuildInfo, hash func() string) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	release, revision, modified := info.Main.Version, settings["vcs.revision"], settings["vcs.modified"] == "true"
	var words []string
	switch {
	case release == "" || release == "(devel)":
		if revision == "" {
			words = append(words, "(devel)")
		}
	case len(revision) < 12 || !strings.Contains(release, revision[:12]): // else it was made of the revision
		words = append(words, release)
	}
	if revision != "" {
		if modified {
			revision += "+dirty"
		}
		words = append(words, revision)
	}
	if modified || words[0] == "(devel)" {
		words = append(words, "sha256:"+hash())
	}
	return strings.Join(words, " ")
}

// programHash returns the first 16 digits of the SHA-256 of the program that runs, or
// "unknown" where it cannot be read.
func programHash() string {
	f, err := os.Open("/proc/self/exe") // on Linux that program even if its file was replaced
	if err != nil {
		path, err := os.Executable()
		if err != nil {
			return "unknown"
		}
		if f, err = os.Open(path); err != nil {
			return "unknown"
		}
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16]
}
