package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	const revision = "07cedcce1987a7c6095ec38203045757db0c7830"
	for _, c := range []struct{ release, revision, modified, want string }{
		{"", "", "", "(devel) sha256:HASH"}, // go run
		{"(devel)", "", "", "(devel) sha256:HASH"},
		{"(devel)", revision, "false", revision},
		{"(devel)", revision, "true", revision + "+dirty sha256:HASH"},
		{"v0.0.0-20261125183756-07cedcce1987", revision, "false", revision},
		{"v0.0.0-20261125183756-07cedcce1987+dirty", revision, "true", revision + "+dirty sha256:HASH"},
		{"v1.2.3", revision, "false", "v1.2.3 " + revision},
		{"v1.2.3", "", "", "v1.2.3"}, // from a module proxy
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.release}}
		if c.revision != "" {
			info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: c.revision}, {Key: "vcs.modified", Value: c.modified}}
		}
		if got := versionOf(info, func() string { return "HASH" }); got != c.want {
			t.Errorf("%+v is %q", c, got)
		}
	}
}

// Another program has another version, though the Go tool records nothing in it.
func TestProgramHash(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%x", sha256.Sum256(read(t, path)))
	if got := programHash(); len(got) != 16 || !strings.HasPrefix(want, got) {
		t.Errorf("%s, want the beginning of %s", got, want)
	}
	if v := version(); !strings.HasSuffix(v, "sha256:"+want[:16]) {
		t.Errorf("the version of a test is %q", v)
	}
}
