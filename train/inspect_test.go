package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noether-go/noether/gumbel"
	"github.com/noether-go/noether/model"
)

// inspect prints and writes what a run is like, and changes nothing in its directory.
func TestInspect(t *testing.T) {
	dir := finished(t)
	before := contents(t, dir)
	out := filepath.Join(t.TempDir(), "new", "inspected")
	code, stdout, stderr := here("inspect", dir, "-out", out, "-images", "3", "-subsets", "0.5", "-threads", "1", "-quiet")
	if code != exitOK || stderr != "" {
		t.Fatal(code, stderr)
	}
	if after := contents(t, dir); fmt.Sprint(before) != fmt.Sprint(after) {
		t.Error("the directory of the run has changed")
	}
	files := contents(t, out)
	if len(files) != 2 {
		t.Errorf("%d files are written", len(files))
	}
	var found inspectJSON
	if err := json.Unmarshal(read(t, out, inspectFile), &found); err != nil {
		t.Fatal(err)
	}
	var trained result
	if err := json.Unmarshal(read(t, dir, resultFile), &trained); err != nil {
		t.Fatal(err)
	}
	if found.Accuracy != trained.TestAccuracy || found.Draws != trained.EvalDraws || !found.Synthetic || found.Weights != "best" || found.Run != dir {
		t.Errorf("%+v; the run found %+v", found, trained)
	}
	if !slices.EqualFunc(found.Confusion, trained.Confusion, slices.Equal) {
		t.Errorf("confusion %v; the run found %v", found.Confusion, trained.Confusion)
	}
	if len(found.Layers) != 5 || len(found.Kernels) != 6 || len(found.Kernels[0].Elements) != 8 || len(found.Kernels[0].Weights[0][7]) != 9 {
		t.Errorf("%d layers, kernels of %d", len(found.Layers), len(found.Kernels))
	}
	for i, l := range found.Layers {
		if l.Learned != trained.Learned[i] {
			t.Errorf("%s: %v of the group; the run found %v", l.Name, l.Learned, trained.Learned[i])
		}
	}
	if n := len(found.Resets); n != 2 || found.Resets[0].Subset != 0.5 || found.Resets[1].Subset != 1 ||
		found.Resets[1].Accuracy != *trained.WholeGroupAccuracy || len(found.Resets[0].Probability) != len(found.Degrees) {
		t.Errorf("resets %+v; on the whole group the run found %v", found.Resets, *trained.WholeGroupAccuracy)
	}
	if n := len(found.Equivariance); n != 14 || found.Equivariance[0].Total != 0 || found.Equivariance[6].Degrees != 90 || len(found.Equivariance[6].Layers) != 6 ||
		!found.Equivariance[13].Flip || found.Equivariance[13].InGroup || found.Equivariance[13].Group != found.Equivariance[13].Total {
		t.Errorf("%d transformations: %+v", n, found.Equivariance)
	}
	if found.Pass <= 0 || found.WholePass <= 0 {
		t.Error("passes take no time")
	}
	if q, ratio := found.PassRatios, found.Pass/found.WholePass; len(q) != 2 || !(0 < q[0] && q[0] <= ratio+1e-9 && ratio <= q[1]+1e-9) || found.PassTurns < 5 {
		t.Errorf("of %d turns the ratios have quartiles %v, and %v between them", found.PassTurns, q, ratio)
	}
	if found.Step <= 0 || found.Step > found.WholeStep {
		t.Errorf("a step takes %d bytes, on the whole group %d", found.Step, found.WholeStep)
	}
	page := files["/"+inspectPage]
	for _, s := range []string{fmt.Sprintf("%.4f", found.Accuracy), "strokes6-180 (synthetic)", "0.50 of the group", "blocks.1.gconv2", "prefers-color-scheme:dark"} {
		if !strings.Contains(page, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
	for _, p := range picture.FindAllString(page, -1) {
		checkPicture(t, p)
	}
	for _, s := range []string{"<script", "<link", "http:", "https:", "src="} {
		if strings.Contains(page, s) {
			t.Errorf("the page contains %q", s)
		}
	}
	for _, s := range []string{
		fmt.Sprintf("test accuracy  %.4f", found.Accuracy), "block 2, convolution 1", "to 0.50 of the group", "to 1.00 of the group", "180°", "flip",
		"page  " + filepath.Join(out, inspectPage),
	} {
		if !strings.Contains(stdout, s) {
			t.Errorf("the output lacks %q: %s", s, stdout)
		}
	}
	sum := 0
	for _, row := range found.Confusion {
		for _, v := range row {
			sum += v
		}
	}
	if sum != 8*found.Draws {
		t.Errorf("%d images are counted, want 8 for each of %d draws", sum, found.Draws)
	}
	for i, p := range found.Probability {
		if !(p >= 0 && p <= 1) || !(math.Abs(found.Degrees[i]-float64(-180+10*i)) <= 1e-9) {
			t.Errorf("probability %v at %v degrees", p, found.Degrees[i])
		}
	}
}

// Inspect without -out writes nothing, and works on networks without learned subsets.
func TestInspectFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "full")
	if code, _, stderr := here(tinyRun(dir, "-set", "conv.partial=false")...); code != exitOK {
		t.Fatal(stderr)
	}
	before := contents(t, filepath.Dir(dir))
	code, stdout, stderr := here("inspect", dir, "-images", "2", "-quiet", "-weights", "last")
	if code != exitOK || strings.Contains(stdout, "subset reset") || !strings.Contains(stdout, "relative difference") {
		t.Error(code, stdout, stderr)
	}
	if strings.Contains(stderr, "-subsets") {
		t.Error(stderr)
	}
	if code, _, stderr := here("inspect", dir, "-images", "1", "-quiet", "-subsets", "0.5"); code != exitOK || !strings.Contains(stderr, "-subsets makes no difference") {
		t.Error(code, stderr)
	}
	if fmt.Sprint(before) != fmt.Sprint(contents(t, filepath.Dir(dir))) {
		t.Error("files have changed")
	}
	out := t.TempDir()
	t.Chdir(dir)
	if code, _, stderr := here("inspect", ".", "-images", "1", "-quiet", "-out", out); code != exitOK || !strings.Contains(string(read(t, out, inspectFile)), `"resets": []`) {
		t.Errorf("exit code %d, or resets are no list: %s", code, stderr)
	}
	if page := string(read(t, out, inspectPage)); !strings.Contains(page, "<h1>full</h1>") {
		t.Error("the page does not name the run")
	}
}

// What was found stands under its heading, each number in its column.
func TestInspectPrints(t *testing.T) {
	parts := model.Parts{Total: .1, Grid: .2, Boundary: .3, Pooling: .4, Sampling: .5, Subset: .6, Group: .7, Truncation: .8}
	found := &inspectJSON{
		Accuracy: .75, AccuracyStd: .0125, Draws: 3, Synthetic: true,
		Layers:  []layerJSON{{"block 1, convolution 1", .5, []gumbel.Learned{{Theta: .5}, {Keep: []float64{1, .25}}}}},
		Resets:  []reset{{.25, .375, nil}, {1, .5, nil}},
		Degrees: []float64{-180, -90, 0, 90}, Probability: []float64{.125, .25, .5, .75},
		Equivariance: []equivarianceEntry{{Scale: 1}, {Degrees: 90, Scale: 1, Parts: parts}, {Flip: true, Scale: 1}, {Scale: .5}, {Scale: 1}},
		Confusion:    [][]int{{7, 1}, {2, 6}},
	}
	var out strings.Builder
	if err := (&inspection{out: "shown"}).print(&out, found, true); err != nil {
		t.Fatal(err)
	}
	want := `test accuracy  0.7500 ± 0.0125 over 3 draws (synthetic data)
learned subsets
  block 1, convolution 1       0.500 of the group  kept with probability [1.00 0.25]
accuracy with every subset reset
  to 0.25 of the group         0.3750
  to 1.00 of the group         0.5000
probability of the first class against the rotation
  -180°  0.125
    90°  0.750
relative difference of the pooled features
                          total     grid boundary  pooling sampling   subset    group truncation
  0°                     0.0000   0.0000   0.0000   0.0000   0.0000   0.0000   0.0000     0.0000
  90°                    0.1000   0.2000   0.3000   0.4000   0.5000   0.6000   0.7000     0.8000
  flip                   0.0000   0.0000   0.0000   0.0000   0.0000   0.0000   0.0000     0.0000
  scale 0.50             0.0000   0.0000   0.0000   0.0000   0.0000   0.0000   0.0000     0.0000
  scale 1.00             0.0000   0.0000   0.0000   0.0000   0.0000   0.0000   0.0000     0.0000
images of each class (row) put into each
       7      1
       2      6
page  shown/inspect.html
figures  shown/inspect.json
`
	if got := filepath.ToSlash(out.String()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestInspectRefuses(t *testing.T) {
	dir := finished(t)
	file := filepath.Join(t.TempDir(), "file")
	write(t, []byte("x"), file)
	for args, want := range map[string]string{
		"-subsets 2":                   `-subsets has "2"|0.02 to below 1`,
		"-subsets 0.5,x":               `-subsets has "x"`,
		"-subsets 0.5,":                `-subsets has ""`,
		"-images 0":                    "-images is 0|1 to 100000",
		"-weights all":                 `-weights is "all"`,
		"-out " + dir:                  "-out is the directory of the run|give another one",
		"-out " + filepath.Clean(file): "is no directory",
	} {
		code, stdout, stderr := here(append([]string{"inspect", dir, "-quiet"}, strings.Fields(args)...)...)
		refused(t, exitUsage, code, stdout, stderr, strings.Split(want, "|")...)
	}
	code, stdout, stderr := here("inspect", dir, "-quiet", "-out", filepath.Join(file, "below"), "-images", "1")
	refused(t, exitFailure, code, stdout, stderr, "-out: ", "give another")
}

// Sizes are in order, so that the colours of their lines are, and nothing behind one is left out.
func TestInspectSubsets(t *testing.T) {
	n := &inspection{images: 1, means: means{threads: 1}}
	if err := n.parse("0.75, 0.25,0.5"); err != nil || !slices.Equal(n.resets, []float64{0.25, 0.5, 0.75}) {
		t.Errorf("%v, %v", n.resets, err)
	}
	for _, text := range []string{"", "0.5\n0.3", "0.5 0.3", "nan", "1", "0.019"} {
		if err := n.parse(text); err == nil || !strings.Contains(err.Error(), "0.02 to below 1") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Of an Augerino network the mean of the logits is measured, and the report says so.
func TestInspectAugerino(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "augerino")
	if code, _, stderr := here(tinyRun(dir, "-set", "conv.partial=false", "-set", "net.type=AugerinoCKResNet")...); code != exitOK {
		t.Fatal(stderr)
	}
	out := t.TempDir()
	if code, _, stderr := here("inspect", dir, "-images", "2", "-quiet", "-out", out); code != exitOK {
		t.Fatal(stderr)
	}
	var found inspectJSON
	if err := json.Unmarshal(read(t, out, inspectFile), &found); err != nil {
		t.Fatal(err)
	}
	if e := found.Equivariance[6]; len(found.Layers) != 1 || len(found.Resets) != 4 || !e.InGroup || e.Layers != nil || e.Boundary != 0 {
		t.Errorf("%d layers, %+v", len(found.Layers), e)
	}
	for _, page := range []string{string(read(t, out, inspectPage)), string(read(t, dir, reportFile))} {
		if !strings.Contains(page, "<h3>Mean of the logits</h3>") || strings.Contains(page, "Feature maps, layer by layer") {
			t.Error("the page does not say what is measured")
		}
	}
}

// Of reflections the probability of keeping them is printed, and the report has them start at that of a new network.
func TestInspectMirror(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mirror")
	if code, _, stderr := here(tinyRun(dir, "-set", "group.name=mirror")...); code != exitOK {
		t.Fatal(stderr)
	}
	code, stdout, stderr := here("inspect", dir, "-images", "2", "-quiet")
	if code != exitOK || strings.Count(stdout, "of the group  kept with probability [1.00 0.") != 5 {
		t.Error(code, stdout, stderr)
	}
	if html := string(read(t, dir, reportFile)); !strings.Contains(html, "All start at 0.94 of the group.") { // sigmoid(2) for the mirrored half
		t.Error("the report does not say where the subsets start")
	}
}

// On groups with scalings the difference they make is there against the scale, with what the bounds
// of the scales cost; on others there is no word of that.
func TestInspectScalings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "scalings")
	if code, _, stderr := here(tinyRun(dir, "-set", "group.name=R+", "-set", "group.elements=4", "-set", "conv.partial=false")...); code != exitOK {
		t.Fatal(stderr)
	}
	out := t.TempDir()
	code, stdout, stderr := here("inspect", dir, "-images", "2", "-quiet", "-out", out)
	if code != exitOK {
		t.Fatal(stderr)
	}
	var found inspectJSON
	if err := json.Unmarshal(read(t, out, inspectFile), &found); err != nil {
		t.Fatal(err)
	}
	if n := len(found.Equivariance); n != 14+9 {
		t.Fatalf("%d transformations", n)
	}
	for i, e := range found.Equivariance {
		want := 1.0
		if i >= 14 {
			want = math.Exp2(float64(i-18) / 8)
		}
		if !(math.Abs(e.Scale-want) <= 1e-12) || i < 14 && e.Truncation != 0 {
			t.Errorf("transformation %d: %+v", i, e)
		}
	}
	if e := found.Equivariance[14]; !e.InGroup || e.Truncation == 0 || e.Total == 0 {
		t.Errorf("%+v", e)
	}
	for _, s := range []string{"truncation", "scale 0.71", "scale 1.00", "scale 1.41"} {
		if !strings.Contains(stdout, s) {
			t.Errorf("the output lacks %q: %s", s, stdout)
		}
	}
	report, plain := string(read(t, dir, reportFile)), string(read(t, finished(t), reportFile))
	for _, page := range []string{string(read(t, out, inspectPage)), report} {
		for _, s := range []string{"scaling by 0.71", "scaling by 1.41", "<th scope=\"col\">truncation</th>", "against the scale</h3>"} {
			if !strings.Contains(page, s) || strings.Contains(plain, s) {
				t.Errorf("%q belongs to pages of groups with scalings", s)
			}
		}
		for _, p := range picture.FindAllString(page, -1) {
			checkPicture(t, p)
		}
	}
}
