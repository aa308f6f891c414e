package lie_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/lie"
)

func TestByName(t *testing.T) {
	for name, want := range map[string]lie.Group{
		"SE2": lie.SE2, "SE(2)": lie.SE2, "se2": lie.SE2, "SO(2)": lie.SE2, "T2": lie.T2, "T(2)": lie.T2, "t(2)": lie.T2, "C1": lie.T2,
		"SE(2": lie.SE2, // parentheses never matter, paired or not
		"E2":   lie.E2, "O(2)": lie.E2, "mirror": lie.Mirror, "Mirror": lie.Mirror,
		"R+": lie.RPlus, "Sim(2)": lie.Sim2, "SO(2) x R+": lie.Sim2,
	} {
		if got, err := lie.ByName(name); err != nil || got != want {
			t.Errorf("ByName(%q) = %v, %v", name, got, err)
		}
	}
	// Groups that are made when they are asked for are the same by name.
	for name, want := range map[string]lie.Group{
		"C(4)": lie.Cyclic(4), "c12": lie.Cyclic(12), "D4": lie.Dihedral(4), "R+(3)": lie.Scalings(3), "r+2": lie.RPlus,
		"SE(2) periodic": lie.Periodic(lie.SE2), "R+ periodic": lie.RPlus, "SO(2) x R+ periodic": lie.Periodic(lie.Sim2),
		"r+ x so(2)": lie.DirectProduct(lie.RPlus, lie.SO2), "SE(2) x R+": lie.Sim2, "E(2) x R+(1.5)": lie.DirectProduct(lie.O2, lie.Scalings(1.5)),
		"C2 x R+ x mirror": lie.DirectProduct(lie.DirectProduct(lie.Cyclic(2), lie.RPlus), lie.Mirror),
	} {
		if got, err := lie.ByName(name); err != nil || got.Name() != want.Name() || !slices.Equal(got.Axes(), want.Axes()) {
			t.Errorf("ByName(%q) = %v, %v, want %s", name, got, err, want.Name())
		}
	}
	for _, row := range table {
		if row.group == Shears {
			continue // not of the package
		}
		if got, err := lie.ByName(row.name); err != nil || got.Name() != row.name || !slices.Equal(got.Axes(), row.group.Axes()) {
			t.Errorf("ByName(%q) = %v, %v", row.name, got, err)
		}
	}
	for _, name := range []string{
		"", "SE3", "rotations", "SE 2", "C", "C0", "C-4", "C+4", "C04", "C1e3", "C65537", "D0", "R+(1)", "R+(0.5)", "R+(NaN)", "R+(Inf)", "R+(1e9)", "4", "1.5",
		" periodic", "periodic", "SE(2) periodic periodic", "SE(2) x ", " x SE(2)", "SE(2) x T3", "SE(2) periodic x R+",
	} {
		if got, err := lie.ByName(name); err == nil || !strings.Contains(err.Error(), "T(2), SE(2), E(2)") || !strings.Contains(err.Error(), `"`+name+`"`) || !strings.Contains(err.Error(), lie.Known()) {
			t.Errorf("ByName(%q) = %v, %v; want an error that names the known groups", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"mirror x SO(2)":    "order matters",
		"E(2) x R+ x R+":    "4 axes",
		"C3 x C4 x C5 x C7": "4 axes",
		"SO(2) x SO(2)":     "in common",
		"C3 x C4 x C6":      "in common",
		"C4 x R+ x R+(3)":   "in common",
	} {
		if got, err := lie.ByName(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("ByName(%q) = %v, %v; want an error that says %q", name, got, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	want := []string{"T(2)", "SE(2)", "E(2)", "mirror", "R+", "Sim(2)", "CN", "DN", "R+(N)"}
	if got := lie.Names(); !slices.Equal(got, want) {
		t.Errorf("Names() = %q", got)
	}
	for _, name := range lie.Names() {
		name = strings.Replace(name, "N", "4", 1)
		if g, err := lie.ByName(name); err != nil || g.Name() != name {
			t.Errorf("ByName(%q) = %v, %v", name, g, err)
		}
	}
}

// What an error says about the numbers in names is so.
func TestKnown(t *testing.T) {
	for _, name := range lie.Names() {
		if !strings.Contains(lie.Known(), name) {
			t.Errorf("%q lacks %s", lie.Known(), name)
		}
	}
	for family, numbers := range map[string][3]string{
		"CN": {"(N: 1 to 65536)", "65536", "65537"}, "DN": {"(N: 1 to 65536)", "65536", "65537"}, "R+(N)": {"(N: above 1, up to 1000)", "1000", "1001"},
	} {
		if !strings.Contains(lie.Known(), family+" "+numbers[0]) {
			t.Errorf("%q lacks %s %s", lie.Known(), family, numbers[0])
		}
		for i, ok := range []bool{true, false} {
			if _, err := lie.ByName(strings.Replace(family, "N", numbers[i+1], 1)); (err == nil) != ok {
				t.Errorf("%s of N = %s: %v", family, numbers[i+1], err)
			}
		}
	}
}

func TestKnownWithin(t *testing.T) {
	for _, want := range []string{"CN (N: 1 to 1024)", "DN (N: 1 to 512)", "R+(N) (N: above 1, up to 1000)"} {
		if got := lie.KnownWithin(1024); !strings.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
}

// Whatever the text, ByName gives an error or a group that its own name gives back.
func FuzzByName(f *testing.F) {
	for _, row := range table {
		f.Add(row.name)
	}
	f.Add("mirror x C4 x R+(1e2) periodic")
	f.Fuzz(func(t *testing.T, name string) {
		g, err := lie.ByName(name)
		if err != nil {
			return
		}
		again, err := lie.ByName(g.Name())
		if err != nil || again.Name() != g.Name() || !slices.Equal(again.Axes(), g.Axes()) || again.Coordinates() != g.Coordinates() {
			t.Errorf("%q is %s, whose name gives %v, %v", name, g.Name(), again, err)
		}
	})
}
