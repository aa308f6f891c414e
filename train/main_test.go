package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/noether-go/noether/asm"
	"github.com/noether-go/noether/internal/atomicfile"
	"github.com/noether-go/noether/internal/config"
	"github.com/noether-go/noether/model"
)

// mainVariable makes the test binary behave as the command, so that tests can
// kill it, interrupt it and look at its exit code.
const mainVariable = "NOETHER_TEST_MAIN"

func TestMain(m *testing.M) {
	switch os.Getenv(mainVariable) {
	case "":
	case "write":
		writeForever(os.Args[1])
	case "abandoned":
		atomicfile.Abandon()
		main()
	default:
		main()
		return
	}
	code := m.Run()
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// writeForever is a command that comes to no end of a file.
func writeForever(path string) {
	_, stop := interruptible(newLog(os.Stderr, false), "stopping")
	defer stop()
	atomicfile.WriteFile(path, func(w io.Writer) error {
		w.Write(make([]byte, 1<<20))
		os.Stderr.WriteString("writing\n")
		select {}
	})
}

// tiny is a run of a few steps: 32 images in batches of 8, 3 epochs.
var tiny = []string{
	"-quiet", "-threads", "1", "-epochs", "3", "-set", "data.size=16", "-set", "train.batch=8", "-set", "train.eval_draws=1",
	"-set", "net.width=2", "-set", "group.elements=2",
	"-set", "kernel.side=3", "-set", "kernel.hidden=4", "-set", "kernel.layers=2",
}

// tinyRun returns the flags of a tiny run into a directory.
func tinyRun(out string, more ...string) []string {
	return append(append(slices.Clone(tiny), "-out", out), more...)
}

// here runs the command within the test.
func here(args ...string) (code int, stdout, stderr string) {
	var out, log bytes.Buffer
	code = run(args, &out, &log)
	return code, out.String(), log.String()
}

// there returns the command as a process of its own.
func there(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := append(emulator(self), append([]string{self}, args...)...)
	cmd := exec.Command(name[0], name[1:]...)
	cmd.Env = append(os.Environ(), mainVariable+"=1")
	stderr := new(bytes.Buffer)
	cmd.Stderr = stderr
	return cmd, stderr
}

// emulator returns what has to stand before a program of this architecture. A
// test under qemu-user cannot start itself where the kernel does not know how.
var emulator = func() func(string) []string {
	var once sync.Once
	var prefix []string
	return func(self string) []string {
		once.Do(func() {
			cmd := exec.Command(self, "-list")
			cmd.Env = append(os.Environ(), mainVariable+"=1")
			if qemu, err := exec.LookPath("qemu-aarch64"); err == nil && errors.Is(cmd.Run(), syscall.ENOEXEC) {
				prefix = []string{qemu}
			}
		})
		return prefix
	}
}()

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

// shared is the directory of one undisturbed tiny run, which tests may read but
// not change.
var shared struct {
	once   sync.Once
	dir    string
	stdout string
	err    string
}

func finished(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() {
		dir, err := os.MkdirTemp("", "noether-train")
		if err != nil {
			t.Fatal(err)
		}
		shared.dir = dir
		var code int
		code, shared.stdout, shared.err = here(tinyRun(filepath.Join(dir, "run"), "-threads", "1")...)
		if code != exitOK {
			shared.err += "exit code not 0"
		}
	})
	if shared.err != "" {
		t.Fatalf("the undisturbed run said: %s", shared.err)
	}
	return filepath.Join(shared.dir, "run")
}

// copyOf copies a run directory.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func read(t *testing.T, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, content []byte, elem ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(elem...), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// contents returns every file below dir. A directory that is not there is empty.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// refused asserts that a command ended as bad input must end it: the exit code,
// nothing on stdout, exactly one line on stderr that contains every given text,
// no panic.
func refused(t *testing.T, want int, code int, stdout, stderr string, texts ...string) {
	t.Helper()
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	if stdout != "" {
		t.Errorf("stdout: %q", stdout)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") || !strings.HasPrefix(stderr, "noether: ") {
		t.Errorf("stderr is not one line that starts with the program's name: %q", stderr)
	}
	for _, s := range append(texts, "") {
		if !strings.Contains(stderr, s) {
			t.Errorf("stderr does not contain %q: %q", s, stderr)
		}
	}
	if strings.Contains(stderr, "goroutine ") {
		t.Error("a panic trace")
	}
}

func TestBadFlags(t *testing.T) {
	toml := func(text string) string {
		path := filepath.Join(t.TempDir(), "my.toml")
		write(t, []byte(text), path)
		return path
	}
	bad := toml("[train]\nlr = \"fast\"\n")
	misspelt := toml("[train]\nlearning = 1\n")
	broken := toml("[train]\nlr = = 1\n")
	foreign := toml("preset = \"mnist7\"\n")
	other := toml("preset = \"mnist6-m\"\n")
	for _, c := range []struct {
		name string
		args string
		want string // texts, separated by |
	}{
		{"preset", "-preset mnist6-18", `unknown preset "mnist6-18"|"mnist6-180"`},
		{"flag", "-epoch 3", "unknown flag -epoch|-epochs"},
		{"argument", "-quiet mnist6-180", `unexpected argument "mnist6-180"`},
		{"key", "-set train.lrr=1", `unknown key "train.lrr"|"train.lr"`},
		{"group of keys", "-set train=1", "train.lr"},
		{"no value", "-set train.lr", "key=value"},
		{"value of the wrong type", "-set train.epochs=many", `"train.epochs" takes a whole number`},
		{"number for a truth", "-set conv.partial=1", `"conv.partial" takes true or false`},
		{"fraction for a whole number", "-set train.batch=1.5", `"train.batch" takes a whole number`},
		{"text for a number", "-set train.lr=fast", `"train.lr" takes a number`},
		{"text for a list", "-set net.pools=1", `"net.pools" takes a list of whole numbers`},
		{"not a number", "-set train.lr=nan", "train.lr is NaN|above 0"},
		{"infinite", "-set kernel.omega0=inf", "kernel.omega0 is +Inf"},
		{"frequency below all", "-set kernel.omega0=1e-7", "kernel.omega0 is 1e-07|1e-6 to 10000"},
		{"zero in float32", "-set train.clip_norm=1e-46", "train.clip_norm is 1e-46|float32"},
		{"negative", "-set train.weight_decay=-1", "train.weight_decay is -1|0 to 1e6"},
		{"name", "-set group.name=SE3", `group.name is "SE3"|SE(2)`},
		{"elements of two components per image, as published", "-set group.name=O(2) -set conv.per_element=true -set conv.compat=true", "conv.per_element is true|E(2) with Compat"},
		{"odd number of elements on two components", "-set group.name=O(2) -set conv.partial=false -set group.elements=7", "group.elements is 7|multiples of 2"},
		{"elements of scalings per image", "-set group.name=sim2 -set conv.per_element=true", "conv.per_element is true|false for Sim(2)"},
		{"norms of scalings", "-set group.name=sim2 -set train.kernel_norm=1", "kernel_norm is 1|0 for Sim(2), each scale|train.weight_decay"},
		{"growth of subsets that are not learned", "-set conv.partial=false -set train.monotonic=1", "train.monotonic is 1|does not learn subsets of two layers"},
		{"a reward for the width of no copies", "-set train.augerino_width=1", "train.augerino_width is 1|Augerino"},
		{"pools that leave no pixel", "-set net.type=GCNN -set net.factors=[1,1,1,1] -set net.pools=[0,1,2,3,4]", "net.pools is [0, 1, 2, 3, 4]|leaves a pixel after the last pool"},
		{"augmentation", "-set data.augment=mixup", `data.augment is "mixup"|none, flip-crop, rotation`},
		{"flips of sixes", "-set data.augment=flip-crop", "data.augment is flip-crop|none or rotation for strokes6-180"},
		{"rotation of rotations", "-preset mnist6-circle -set data.augment=rotation -set data.rotate=5", "data.augment is rotation|none for mnist6-circle"},
		{"rotation by no angle", "-set data.augment=rotation", "data.rotate is 0|above 0, at most 90|half a turn apart"},
		{"rotation into the other class", "-set data.augment=rotation -set data.rotate=91", "data.rotate is 91|half a turn apart"},
		{"an angle without rotation", "-set data.rotate=nan", "data.rotate is NaN|0 unless data.augment is rotation"},
		{"jitter", "-set group.jitter=none", `group.jitter is "none"|stratified`},
		{"sampling", "-set group.sampling=maybe", `group.sampling is "maybe"|deterministic`},
		{"measure", "-set group.measure=lebesgue", `group.measure is "lebesgue"|haar`},
		{"measure of the published program", "-set group.measure=haar -set conv.compat=true", "group.measure is haar|counting"},
		{"set", "-set data.set=mnist", `data.set is "mnist"|mnist6-180`},
		{"algorithm", "-set conv.algorithm=magic", `conv.algorithm is "magic"|auto, taps, frequency`},
		{"elements per image of T(2)", "-set group.name=T2 -set conv.partial=false -set group.elements=1 -set conv.per_element=true", "conv.per_element is true|false for T(2)"},
		{"algorithm of separable kernels", "-set conv.separable=true -set conv.algorithm=taps", `conv.algorithm is "taps"|auto`},
		{"separable kernels of a pixel", "-set conv.separable=true -set kernel.type=MLP -set kernel.side=1", "conv.separable is true|false for kernels of one pixel"},
		{"separable kernels that stay zero", "-set group.name=R+ -set conv.separable=true -set net.last_t2=true", "conv.separable is true|false for R+|begins as zero"},
		{"algorithm for elements per image", "-set conv.algorithm=taps -set conv.per_element=true", `conv.algorithm is "taps"|auto`},
		{"network", "-set net.type=ResNet", `net.type is "ResNet"|GCNN`},
		{"places of dropout in a residual network", "-set net.dropout=0.5 -set net.dropouts=[1]", "net.dropouts is [1], which has no effect|in each of its blocks"},
		{"dropout", "-set net.type=GCNN -set net.dropout=1", "net.dropout is 1|below 1"},
		{"place of dropout", "-set net.type=GCNN -set net.dropout=0.5 -set net.dropouts=[9]", "net.dropouts is [9]"},
		{"kernel", "-set kernel.type=RBF", `kernel.type is "RBF"|SIREN, MAGNet, Gabor, Fourier, MLP`},
		{"activation", "-set kernel.type=mlp -set kernel.activation=tanh", `kernel.activation is "tanh"|ReLU, LeakyReLU, Swish`},
		{"norm", "-set kernel.norm=Identity", `kernel.norm is "Identity"|none, LayerNorm`},
		{"kernel of one pixel", "-set kernel.side=1", "kernel.side is 1|3 and more"},
		{"even kernel", "-set kernel.side=4", "kernel.side is 4|odd"},
		{"kernel larger than the last map", "-set kernel.side=9", "kernel.side|net.pools"},
		{"factor", "-set net.factors=[0]", "net.factors is [0]"},
		{"pool", "-set net.pools=[7]", "net.pools is [7]"},
		{"batch", "-set train.batch=41", "train.batch is 41|40 training images"},
		{"warm-up", "-epochs 10 -set train.warmup_epochs=10", "train.warmup_epochs is 10|0 to 9 where train.epochs is 10|-set train.warmup_epochs=9"},
		{"momentum", "-set train.momentum=1", "train.momentum is 1"},
		{"nesterov", "-set train.optimizer=sgd -set train.nesterov=true", "train.momentum is 0"},
		{"nesterov of Adam", "-set train.nesterov=true", "train.nesterov is true, which has no effect|train.optimizer is adam"},
		{"size of given data", "-preset mnist6-180 -set data.size=9", "data.size is 9"},
		{"size", "-set data.size=-1", "data.size is -1"},
		{"subset of T(2)", "-set group.name=T2 -set group.elements=1", "conv.partial is true|the identity alone"},
		{"subset of a grid of one", "-set group.sampling=deterministic -set group.elements=1", "conv.partial is true|the identity alone"},
		{"elements of a finite group", "-set group.name=D4 -set conv.partial=false -set group.elements=4", "group.elements is 4|8 for D4"},
		{"elements of T(2)", "-set group.name=T2 -set conv.partial=false", "group.elements is 8"},
		{"frequency of a network without", "-set kernel.type=MAGNet -set kernel.omega0=30", "kernel.omega0 is 30, which has no effect|only SIREN|leave it out"},
		{"jitter of a grid", "-set group.sampling=deterministic -set group.jitter=comb", "group.jitter is comb, which has no effect|on a grid"},
		{"one list of elements for learned subsets", "-set group.shared=true", "group.shared is true, which has no effect|conv.partial is true|leave it out"},
		{"one list of elements of a grid", "-set conv.partial=false -set group.sampling=deterministic -set group.shared=true", "group.shared is true, which has no effect|one grid"},
		{"momentum of Adam", "-set train.momentum=0.9", "train.momentum is 0.9, which has no effect|train.optimizer is adam"},
		{"rate of what is not learned", "-set conv.partial=false -set train.lr_subset=0.1", "train.lr_subset is 0.1, which has no effect|conv.partial is false"},
		{"dropout nowhere", "-set net.type=GCNN -set net.dropout=0.5", "net.dropouts is []|one block or more"},
		{"two pools in one place", "-set net.pools=[1,1]", "net.pools is [1, 1]; allowed: |each once"},
		{"published subsets of C4", "-set group.name=C4 -set group.elements=4 -set conv.compat=true", "conv.compat is true|subsets of C4 are learned"},
		{"published copies by C4", "-set net.type=AugerinoCKResNet -set conv.partial=false -set group.name=C4 -set group.elements=4 -set conv.compat=true", "conv.compat is true|subsets of C4 are learned"},
		{"temperature", "-set group.name=E(2) -set group.init_temperature=-1", "group.init_temperature is -1"},
		{"temperature that rises", "-set group.name=E(2) -set group.end_temperature=1", "group.end_temperature is 1|up to the temperature at the beginning, 0.5"},
		{"angles of copies", "-set conv.partial=false -set net.type=AugerinoCKResNet -config " + toml("[group]\nname = \"SE(2) periodic\"\n"), "group.name is SE(2) periodic|fed no angles"},
		{"preset as a key", "-set preset=mnist6-180", "-preset mnist6-180"},
		{"threads", "-threads 0", "-threads is 0|1 to 1024"},
		{"threads that are no number", "-threads two", `invalid value "two" for flag -threads`},
		{"epochs", "-epochs 0", "-epochs is 0"},
		{"seed", "-seed -1", `invalid value "-1" for flag -seed`},
		{"seed beyond TOML", "-seed 18446744073709551615", "seed is 18446744073709551615"},
		{"device", "-device tpu", `-device "tpu"|cpu`},
		{"config that is not there", "-config /nothing.toml", "-config: open /nothing.toml"},
		{"config of the wrong type", "-config " + bad, "my.toml|train.lr"},
		{"config with an unknown key", "-config " + misspelt, `my.toml|unknown key "train.learning"`},
		{"config with a key in another case", "-config " + toml("[train]\nlr = 0.001\nLR = 0.002\n"), `my.toml|unknown key "train.LR"|"train.lr"`},
		{"config with an empty preset", "-config " + toml("preset = \"\"\n"), "my.toml|preset is empty"},
		{"config that is no text", "-config " + toml("\xff\xfe"), "my.toml|UTF-8"},
		{"config that is no TOML", "-config " + broken, "my.toml|line 2"},
		{"config with an unknown preset", "-config " + foreign, `my.toml|unknown preset "mnist7"`},
		{"two presets", "-preset mnist6-180 -config " + other, "mnist6-m-mirror-2-partial|leave one out"},
		{"empty preset", "-preset EMPTY", "-preset is empty"},
		{"empty config", "-config EMPTY", "-config is empty|leave it out"},
		{"empty out", "-out=EMPTY", "-out is empty"},
		{"empty resume", "-resume EMPTY", "-resume is empty|variable"},
		{"empty data", "-data EMPTY", "-data is empty"},
		{"empty name of a command", "EMPTY", `unexpected argument ""`},
		{"negative seed", "-set seed=-1", "seed is -1|0 to 9223372036854775807"},
		{"negative seed in a file", "-config " + toml("seed = -3\n"), "my.toml: seed is -3|0 to 9223372036854775807"},
		{"seed that is no number", "-set seed=one", `"seed" takes a whole number`},
		{"block that is too wide", "-set net.width=4096 -set net.factors=[1,3]", "net.width is 4096|net.factors is [1, 3]|12288|8192"},
		{"resume with a configuration", "-resume x -seed 3", "-seed cannot be given with -resume"},
		{"resume of nothing", "-resume /nothing", "/nothing holds no run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			args := strings.Fields(c.args)
			for i, arg := range args {
				args[i] = strings.TrimSuffix(arg, "EMPTY")
			}
			if !strings.Contains(c.args, "mnist6") && !strings.Contains(c.args, "-resume") {
				args = append([]string{"-set", "data.size=20"}, args...) // quick to draw
			}
			code, stdout, stderr := here(args...)
			refused(t, exitUsage, code, stdout, stderr, strings.Split(c.want, "|")...)
			if left := contents(t, "."); len(left) > 0 {
				t.Errorf("left behind: %v", slices.Collect(maps.Keys(left)))
			}
		})
	}
}

// brokenWriter is a file on a full disk.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestHelpAndList(t *testing.T) {
	code, stdout, stderr := here("-help")
	if code != exitOK || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	for _, name := range []string{"preset", "config", "set", "seed", "epochs", "compat", "list", "out", "resume", "threads", "quiet", "download", "data", "device"} {
		if !regexp.MustCompile(`(?m)^  -` + name + `\b`).MatchString(stdout) {
			t.Errorf("-help does not show -%s", name)
		}
	}
	for _, flag := range []string{"-help", "-list"} {
		var stderr bytes.Buffer
		code := run([]string{flag}, brokenWriter{}, &stderr)
		refused(t, exitFailure, code, "", stderr.String(), "no space")
	}
	code, stdout, stderr = here("-list")
	if code != exitOK || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
	for _, p := range config.Presets() {
		if !strings.Contains(stdout, p.Name) || !strings.Contains(stdout, p.About) {
			t.Errorf("-list does not show %s", p.Name)
		}
		if row, ok := p.Paper(); ok && !strings.Contains(stdout, p.About+" [paper: "+row.String()+"]\n") {
			t.Errorf("-list does not show what %s stands for", p.Name)
		}
		if strings.Contains(p.Config.Data.Set, "strokes") && strings.HasPrefix(p.Name, "strokes6-180-se2-8-partial") && !strings.Contains(p.About, "synthetic") {
			t.Errorf("%s does not say that its data are synthetic", p.Name)
		}
	}
}

// The level is read when the program starts, so these need a process.
func TestBadLevel(t *testing.T) {
	cmd, stderr := there(t, "-list")
	cmd.Env = append(cmd.Env, "NOETHER_SIMD=nonsense")
	out, err := cmd.Output()
	refused(t, exitUsage, exitCode(err), string(out), stderr.String(), `NOETHER_SIMD is "nonsense"`, "generic")
}

func TestOutThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, nil, file)
	for out, where := range map[string]string{file: file, filepath.Join(file, "below"): file, "/proc/nothing/here": "/proc/nothing"} {
		code, stdout, stderr := here(tinyRun(out)...)
		refused(t, exitFailure, code, stdout, stderr, "-out: ", where, "give another directory")
	}
	if len(read(t, file)) != 0 {
		t.Error("the file was written to")
	}
}

func TestOutThatHoldsARun(t *testing.T) {
	dir := finished(t)
	before := contents(t, dir)
	code, stdout, stderr := here(tinyRun(dir)...)
	refused(t, exitUsage, code, stdout, stderr, dir, "already holds a run", "-resume "+dir)
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("the run was changed")
	}
}

func TestTwoProcessesInOneDirectory(t *testing.T) {
	dir := copyOf(t, finished(t))
	held, err := openRunDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	code, stdout, stderr := here("-quiet", "-resume", dir)
	refused(t, exitFailure, code, stdout, stderr, dir, "in use by another process; wait until that ends")
	if strings.Contains(stderr, "-out") {
		t.Errorf("advises what -resume does not take: %s", stderr)
	}
	fresh := filepath.Join(t.TempDir(), "new")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		t.Fatal(err)
	}
	other, err := openRunDir(fresh)
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	code, stdout, stderr = here(tinyRun(fresh)...)
	refused(t, exitFailure, code, stdout, stderr, "-out: ", fresh, "in use by another process; give another directory")
	if !maps.Equal(before, contents(t, dir)) {
		t.Error("the run was changed")
	}
	held.close()
	if again, err := openRunDir(dir); err != nil {
		t.Error("the lock was not given back:", err)
	} else {
		again.close()
	}
}

// A directory stands where the lock would, which cannot be made as on a read-only disk.
func TestResumeWhereNothingCanBeWritten(t *testing.T) {
	dir := copyOf(t, finished(t))
	if err := os.Mkdir(filepath.Join(dir, lockFile), 0o755); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	code, stdout, stderr := here("-quiet", "-resume", dir)
	refused(t, exitFailure, code, stdout, stderr, "-resume: ", dir, "resume a copy of it")
	if strings.Contains(stderr, "-out") || !maps.Equal(before, contents(t, dir)) {
		t.Errorf("the directory was changed, or the advice is wrong: %s", stderr)
	}
}

func TestRunWithoutOut(t *testing.T) {
	t.Chdir(t.TempDir())
	var names []string
	for range 3 { // in one second, most likely
		d, err := newRunDir("", &config.Config{Preset: "p"})
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		names = append(names, d.path)
		if !regexp.MustCompile(`^runs.p-\d{8}-\d{6}(-\d)?$`).MatchString(d.path) {
			t.Errorf("the directory is called %s", d.path)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 3 {
		t.Errorf("runs share a directory: %v", names)
	}
}

// The keys of result.json are promised: those of docs/command-line.md, no more
// and no fewer.
func TestResult(t *testing.T) {
	dir := finished(t)
	text := read(t, dir, resultFile)
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"preset", "dataset", "synthetic", "group", "elements", "partial", "kernel", "seed", "epochs", "steps", "parameters",
		"test_accuracy", "test_accuracy_std", "eval_draws", "seconds_per_step", "images_per_second", "peak_rss_bytes",
		"threads", "level", "device", "learned", "version",
		"whole_group_accuracy", "crossings_degrees", "best_epoch", "validation_accuracy",
		"subsets", "equivariance", "confusion", "seconds_per_pass", "whole_group_pass_seconds", "pass_ratio_quartiles", "pass_turns", "step_bytes", "whole_group_step_bytes",
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(values)); !slices.Equal(got, want) {
		t.Errorf("keys %v\nwant %v", got, want)
	}
	doc := string(read(t, "..", "docs", "command-line.md"))
	for _, key := range want {
		if !strings.Contains(doc, "`"+key+"`") {
			t.Errorf("docs/command-line.md does not explain %s", key)
		}
	}
	for key, want := range map[string]any{
		"preset": config.Default, "dataset": "strokes6-180", "synthetic": true, "group": "SE(2)", "elements": 2., "partial": true,
		"kernel": "SIREN", "seed": 1., "epochs": 3., "steps": 12., "eval_draws": 1., "threads": 1., "device": "cpu",
	} {
		if values[key] != want {
			t.Errorf("%s is %v, want %v", key, values[key], want)
		}
	}
	for _, key := range []string{"test_accuracy", "whole_group_accuracy", "validation_accuracy"} {
		if v, ok := values[key].(float64); !ok || v < 0 || v > 1 {
			t.Errorf("%s is %v", key, values[key])
		}
	}
	for _, key := range []string{"seconds_per_step", "images_per_second", "peak_rss_bytes", "parameters", "best_epoch", "seconds_per_pass", "whole_group_pass_seconds", "pass_turns", "step_bytes", "whole_group_step_bytes"} {
		if v, ok := values[key].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v", key, values[key])
		}
	}
	for key, want := range map[string]int{"learned": 5, "subsets": 5, "pass_ratio_quartiles": 2, "equivariance": 14, "confusion": 2} {
		if list, ok := values[key].([]any); !ok || len(list) != want {
			t.Errorf("%s is %v", key, values[key])
		}
	}
	for _, e := range values["equivariance"].([]any) {
		for _, key := range []string{"degrees", "flip", "in_group", "total", "grid", "boundary", "pooling", "sampling", "subset", "group", "changed"} {
			if _, ok := e.(map[string]any)[key]; !ok || !strings.Contains(doc, "`"+key+"`") {
				t.Errorf("%s is missing, or is not explained", key)
			}
		}
	}
}

func TestRunDirectory(t *testing.T) {
	dir := finished(t)
	want := []string{configFile, metricsFile, resultFile, lastFile, bestFile, stateFile, reportFile, rotationFile}
	slices.Sort(want)
	var got []string
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the run directory holds %v, want %v", got, want)
	}
	for _, s := range []string{"test accuracy", "(synthetic data)", "learned subsets", "run directory  " + dir} {
		if !strings.Contains(shared.stdout, s) {
			t.Errorf("stdout lacks %q: %q", s, shared.stdout)
		}
	}
	lines := strings.Split(strings.TrimSpace(string(read(t, dir, metricsFile))), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines of metrics for 3 epochs", len(lines))
	}
	for i, line := range lines {
		var m struct {
			Epoch, Step int
			Learned     []float64
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Epoch != i+1 || m.Step != 4*(i+1) || len(m.Learned) != 5 {
			t.Errorf("metrics line %d: %v, %s", i+1, err, line)
		}
	}
}

// A configuration file that a run left repeats the run.
func TestConfigFileRepeatsTheRun(t *testing.T) {
	dir := finished(t)
	again := filepath.Join(t.TempDir(), "again")
	code, _, stderr := here("-quiet", "-config", filepath.Join(dir, configFile), "-out", again)
	if code != exitOK {
		t.Fatal(code, stderr)
	}
	for _, name := range []string{configFile, lastFile, bestFile} {
		if !bytes.Equal(read(t, dir, name), read(t, again, name)) {
			t.Errorf("%s differs", name)
		}
	}
}

// Resuming what is finished leaves the weights and mends what is damaged or gone of
// the rest.
func TestResumeOfAFinishedRun(t *testing.T) {
	from := finished(t)
	dir := copyOf(t, from)
	write(t, read(t, dir, bestFile)[:100], dir, bestFile)
	write(t, read(t, dir, metricsFile)[:100], dir, metricsFile)
	if err := os.Remove(filepath.Join(dir, lastFile)); err != nil {
		t.Fatal(err)
	}
	write(t, []byte("half"), dir, ".best.safetensors.ABCDEFGH.noether-tmp")
	code, stdout, stderr := here("-quiet", "-resume", dir)
	if code != exitOK || !strings.Contains(stdout, "test accuracy") {
		t.Fatal(code, stdout, stderr)
	}
	for _, name := range []string{configFile, metricsFile, lastFile, bestFile, stateFile} {
		if !bytes.Equal(read(t, from, name), read(t, dir, name)) {
			t.Errorf("%s differs", name)
		}
	}
	if len(contents(t, dir)) != len(contents(t, from)) {
		t.Errorf("files in the directory: %v", slices.Collect(maps.Keys(contents(t, dir))))
	}
}

// A run of a version that had fewer keys can be gone on with.
func TestConfigWithFewerKeys(t *testing.T) {
	from := finished(t)
	dir := copyOf(t, from)
	var lines []string
	for line := range strings.Lines(string(read(t, dir, configFile))) {
		if !strings.HasPrefix(line, "bias") && !strings.HasPrefix(line, "init_temperature") && !strings.HasPrefix(line, "end_temperature") {
			lines = append(lines, line)
		}
	}
	old := strings.Join(lines, "")
	if len(old) == len(read(t, dir, configFile)) {
		t.Fatal("nothing was left out")
	}
	write(t, []byte(old), dir, configFile)
	if code, _, stderr := here("-quiet", "-resume", dir); code != exitOK {
		t.Error(code, stderr)
	}
	for _, name := range []string{lastFile, bestFile} {
		if !bytes.Equal(read(t, from, name), read(t, dir, name)) {
			t.Errorf("%s differs", name)
		}
	}
}

// Without a state, what was trained or imported is not replaced.
func TestResumeWithoutAState(t *testing.T) {
	from := finished(t)
	for _, c := range []struct {
		keep string // besides the configuration
		code int
	}{
		{"", exitOK},
		{metricsFile, exitOK},
		{bestFile, exitFailure},
		{lastFile, exitFailure},
		{resultFile, exitFailure},
	} {
		t.Run(c.keep, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{configFile, c.keep} {
				if name != "" {
					write(t, read(t, from, name), dir, name)
				}
			}
			before := contents(t, dir)
			code, stdout, stderr := here("-quiet", "-resume", dir)
			if c.code == exitOK {
				if code != exitOK {
					t.Fatal(code, stderr)
				}
				sameWeights(t, dir)
				return
			}
			refused(t, c.code, code, stdout, stderr, dir+" has "+c.keep, "restore "+stateFile, "-config "+filepath.Join(dir, configFile)+" -out NEW")
			if !maps.Equal(before, contents(t, dir)) {
				t.Error("the directory was changed")
			}
		})
	}
}

// tinySession returns a session of a new run, which ends with the test.
func tinySession(t *testing.T, args ...string) *session {
	t.Helper()
	o, err := parse(tinyRun(filepath.Join(t.TempDir(), "run"), args...), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSession(t.Context(), o, io.Discard, io.Discard, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

// Weights are never without a state, whenever the run is killed.
func TestStateBeforeWeights(t *testing.T) {
	s := tinySession(t)
	// The first weights cannot be written, as if the run had ended there.
	if err := os.Mkdir(s.dir.file(lastFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.run(t.Context()); err == nil || !strings.Contains(err.Error(), lastFile) {
		t.Fatal(err)
	}
	if !s.dir.has(stateFile) {
		t.Error("there is no state yet")
	}
	if total, done := s.trainer.Steps(); done != total/3 {
		t.Errorf("the run went on to step %d of %d after an epoch that could not be written", done, total)
	}
}

// Within an epoch the state is saved after each train.save_every steps, and after no others.
func TestSavesBetweenEpochs(t *testing.T) {
	s := tinySession(t, "-set", "train.save_every=2")
	path := s.dir.file(stateFile)
	for step := 1; step <= 4; step++ {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		loss, err := s.trainer.Step()
		if err != nil {
			t.Fatal(err)
		}
		s.onStep(model.Progress{Epoch: 1, Epochs: 3, Step: step, Steps: 12, Loss: loss})
		if saved := s.dir.has(stateFile); saved != (step%2 == 0) || s.saving != nil {
			t.Errorf("after step %d a state is there: %v, %v", step, saved, s.saving)
		}
	}
}

// Each epoch replaces the last weights, one that is the best the best ones too: whoever ends the
// run finds both.
func TestSavesOfEpochs(t *testing.T) {
	s := tinySession(t)
	last, best := "", ""
	for _, isBest := range []bool{true, false, true} {
		if _, err := s.trainer.Step(); err != nil {
			t.Fatal(err)
		}
		if err := s.saveEpoch(isBest); err != nil {
			t.Fatal(err)
		}
		before := last
		if last = string(read(t, s.dir.path, lastFile)); isBest {
			best = last
		}
		if last == before || string(read(t, s.dir.path, bestFile)) != best {
			t.Errorf("where the epoch is the best (%v), other weights are saved", isBest)
		}
	}
}

func TestBadStates(t *testing.T) {
	from := finished(t)
	state := read(t, from, stateFile)
	flipped := slices.Clone(state)
	flipped[12] ^= 0xff
	nan := slices.Clone(state)
	copy(nan[len(nan)-4:], "\x00\x00\xc0\x7f")
	config := string(read(t, from, configFile))
	for _, c := range []struct {
		name          string
		state, config string
		code          int
		want          string
	}{
		{"empty", "", config, exitFailure, "truncated"},
		{"cut in the header", string(state[:100]), config, exitFailure, "truncated"},
		{"cut in the data", string(state[:len(state)-5]), config, exitFailure, "its data are bytes"},
		{"longer than it should be", string(state) + "more", config, exitFailure, "at the end"},
		{"damaged header", string(flipped), config, exitFailure, stateFile},
		{"text", strings.Repeat("no state at all ", 100), config, exitFailure, "not a safetensors file"},
		{"another value", string(nan), config, exitFailure, "damaged"},
		{"weights", string(read(t, from, bestFile)), config, exitFailure, "it is no training state"},
		{"of another seed", string(state), strings.Replace(config, "seed = 1", "seed = 2", 1), exitFailure, "of another run: its "},
		{"of another network", string(state), strings.Replace(config, "width = 2", "width = 3", 1), exitFailure, "width is 2, here it is 3"},
		{"of other data", string(state), strings.Replace(config, "size = 16", "size = 17", 1), exitFailure, "of another run: its images"},
		{"config with an unknown key", string(state), config + "\nnew = 1\n", exitUsage, "unknown key"},
		{"config with a bad value", string(state), strings.Replace(config, "lr = 0.001", "lr = -1.0", 1), exitUsage, configFile + ": train.lr is -1"},
		{"config cut short", string(state), config[:len(config)/2], exitUsage, configFile},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := copyOf(t, from)
			write(t, []byte(c.state), dir, stateFile)
			write(t, []byte(c.config), dir, configFile)
			before := contents(t, dir)
			code, stdout, stderr := here("-quiet", "-resume", dir)
			refused(t, c.code, code, stdout, stderr, dir, c.want)
			if !maps.Equal(before, contents(t, dir)) {
				t.Error("the directory was changed")
			}
		})
	}
}

// Decay by a factor of -1e12 in each step leaves float32 within four of them.
func TestLossThatDiverges(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, stdout, stderr := here(tinyRun(dir, "-set", "train.lr=1e6", "-set", "train.weight_decay=1e6", "-set", "train.optimizer=sgd")...)
	refused(t, exitFailure, code, stdout, stderr, dir+": ", "epoch", "step", "learning rate")
}

// Other networks than the default run to the end too.
func TestOtherConfigurations(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode")
	}
	for _, more := range [][]string{
		{"-set", "conv.partial=false"},
		{"-set", "conv.partial=false", "-set", "group.name=t2", "-set", "group.elements=1"},
		{"-set", "conv.compat=true", "-set", "group.jitter=comb", "-epochs", "1"},
		{"-set", "net.dropout=0.2", "-epochs", "1"},
		{"-set", "net.factors=[1, 2, 1]", "-set", "net.pools=[]", "-set", "train.schedule=constant", "-epochs", "1"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		code, stdout, stderr := here(tinyRun(dir, more...)...)
		if code != exitOK || stderr != "" {
			t.Errorf("%v: exit code %d, %s", more, code, stderr)
			continue
		}
		var r result
		if err := json.Unmarshal(read(t, dir, resultFile), &r); err != nil {
			t.Error(more, err)
		}
		if r.Partial == strings.Contains(more[1], "conv.partial") || r.Partial != (r.WholeGroupAccuracy != nil) ||
			r.Partial != strings.Contains(stdout, "learned subsets") {
			t.Errorf("%v: partial is %v in %s", more, r.Partial, stdout)
		}
		code, _, stderr = here("-quiet", "-resume", dir) // config.toml states all of it
		if code != exitOK {
			t.Errorf("%v: resuming: exit code %d, %s", more, code, stderr)
		}
	}
}

// untilSaved waits until the state of a run was written n times.
func untilSaved(t *testing.T, dir string, n int, ended <-chan error) bool {
	t.Helper()
	var last os.FileInfo
	for deadline := time.Now().Add(2 * time.Minute); n > 0; time.Sleep(time.Millisecond) {
		select {
		case <-ended:
			return false
		default:
		}
		if info, err := os.Stat(filepath.Join(dir, stateFile)); err == nil && (last == nil || !os.SameFile(last, info)) {
			last = info
			n--
		}
		if time.Now().After(deadline) {
			t.Fatal("no state was saved")
		}
	}
	return true
}

func start(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer, <-chan error) {
	t.Helper()
	cmd, stderr := there(t, args...)
	return cmd, stderr, begin(t, cmd)
}

// begin starts a process, which ends with the test at the latest.
func begin(t *testing.T, cmd *exec.Cmd) (ended <-chan error) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		result <- cmd.Wait()
		close(done)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
	})
	return result
}

// sameWeights asserts that a run ended with the weights of the undisturbed one.
func sameWeights(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{lastFile, bestFile} {
		if !bytes.Equal(read(t, finished(t), name), read(t, dir, name)) {
			t.Errorf("%s differs from that of the undisturbed run", name)
		}
	}
}

// A run that is killed at random moments and resumed each time, with another
// number of threads, ends with the bits of the undisturbed one.
func TestKilledAndResumed(t *testing.T) {
	finished(t)
	dir := filepath.Join(t.TempDir(), "run")
	args := tinyRun(dir, "-threads", "2", "-set", "train.save_every=1")
	kills := 3
	if testing.Short() {
		kills = 1
	}
	moment := uint64(time.Now().UnixNano()) // random on purpose; a failure prints what it was
	t.Logf("moments from %d", moment)
	landed := 0
	for i := range kills {
		cmd, stderr, ended := start(t, args...)
		saves := 1 + int(moment>>(8*i)%5)
		if untilSaved(t, dir, saves, ended) {
			time.Sleep(time.Duration(moment>>(20+4*i)%4000) * time.Microsecond)
			if err := cmd.Process.Kill(); err == nil {
				landed++
			}
			<-ended
		} else if i == 0 {
			t.Fatalf("ended before it could be killed: %s", stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, resultFile)); err == nil {
			break
		}
		args = []string{"-quiet", "-resume", dir, "-threads", []string{"1", "2"}[i%2]}
	}
	if landed == 0 {
		t.Fatal("nothing was killed")
	}
	code, _, stderr := here("-quiet", "-resume", dir, "-threads", "2")
	if code != exitOK || stderr != "" {
		t.Fatal(code, stderr)
	}
	sameWeights(t, dir)
	for name := range contents(t, dir) {
		if strings.Contains(name, "tmp") || strings.Contains(name, "lock") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// The first interrupt saves and exits with 130; resuming leads to the same bits.
func TestInterruptedAndResumed(t *testing.T) {
	finished(t)
	dir := filepath.Join(t.TempDir(), "run")
	cmd, stderr, ended := start(t, tinyRun(dir, "-set", "train.save_every=1")...)
	if !untilSaved(t, dir, 2, ended) { // the first is the one of the beginning
		t.Fatal(stderr)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(<-ended); code != exitInterrupted {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "interrupted and saved after step") || !strings.Contains(last, "-resume "+dir) {
		t.Errorf("stderr: %s", stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, resultFile)); err == nil {
		t.Error("an interrupted run has a result")
	}
	code, _, log := here("-quiet", "-resume", dir)
	if code != exitOK {
		t.Fatal(code, log)
	}
	sameWeights(t, dir)
}

// A run that goes on at another level of the kernels says so, and its result names both.
func TestResumedAtAnotherLevel(t *testing.T) {
	here := asm.Active()
	if here == asm.Generic {
		t.Skip("this machine, or the level that was chosen, has no other level")
	}
	dir := filepath.Join(t.TempDir(), "run")
	cmd, stderr := there(t, tinyRun(dir, "-set", "train.save_every=1")...)
	cmd.Env = append(cmd.Env, asm.EnvVariable+"="+asm.Generic.String())
	ended := begin(t, cmd)
	if !untilSaved(t, dir, 2, ended) { // the first is the one of the beginning
		t.Fatal(stderr)
	}
	cmd.Process.Signal(os.Interrupt)
	if code := exitCode(<-ended); code != exitInterrupted {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	cmd, stderr = there(t, "-quiet", "-resume", dir)
	if err := cmd.Run(); err != nil {
		t.Fatal(err, stderr)
	}
	if log := stderr.String(); !strings.Contains(log, "another level") || !strings.Contains(log, "levels="+asm.Generic.String()) {
		t.Errorf("stderr: %s", log)
	}
	var r result
	if err := json.Unmarshal(read(t, dir, resultFile), &r); err != nil {
		t.Fatal(err)
	}
	if want := asm.Generic.String() + "," + here.String(); r.Level != want {
		t.Errorf("level %q, want %q", r.Level, want)
	}
}

// The second interrupt does not wait for the step.
func TestInterruptedTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short mode: trains with long steps")
	}
	dir := filepath.Join(t.TempDir(), "run")
	cmd, _ := there(t, "-out", dir, "-threads", "1", "-set", "data.size=256", "-set", "train.batch=512",
		"-set", "group.elements=16", "-set", "net.width=12")
	cmd.Stderr = nil
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	seen := ""
	until := func(s string) {
		for b := make([]byte, 4096); !strings.Contains(seen, s); {
			n, err := pipe.Read(b)
			seen += string(b[:n])
			if err != nil {
				return
			}
		}
	}
	until("msg=training")
	before := read(t, dir, stateFile)
	cmd.Process.Signal(os.Interrupt)
	until("interrupt again")
	cmd.Process.Signal(os.Interrupt)
	until("interrupted and saved") // or the end
	code := exitCode(cmd.Wait())
	if strings.Contains(seen, "interrupted and saved") {
		t.Skip("the step was over before the second interrupt came")
	}
	if code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, seen)
	}
	if !bytes.Equal(before, read(t, dir, stateFile)) {
		t.Error("a state was saved")
	}
}

// A run whose statistics overflow ends before it saves what nothing could read: its state can be
// gone on with, to the same end.
func TestOverflow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for _, args := range [][]string{
		tinyRun(dir, "-set", "train.optimizer=sgd", "-set", "train.lr=1e6", "-set", "train.save_every=1", "-epochs", "40"),
		{"-quiet", "-resume", dir},
	} {
		code, stdout, stderr := here(args...)
		refused(t, exitFailure, code, stdout, stderr, "; training diverged", "smaller learning rate or train.clip_norm may help")
	}
}

// A result says that the report is there, so there is none without it.
func TestReportThatCannotBeWritten(t *testing.T) {
	dir := copyOf(t, finished(t))
	for _, name := range []string{resultFile, reportFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, reportFile, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := here("-quiet", "-resume", dir)
	refused(t, exitFailure, code, stdout, stderr, reportFile, "go on with -resume "+dir)
	if _, err := os.Stat(filepath.Join(dir, resultFile)); err == nil {
		t.Error("there is a result without a report")
	}
}

// An interrupt does not wait until images are read.
func TestInterruptWhileReading(t *testing.T) {
	c, err := config.Lookup(config.Default)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if set, err := openData(ctx, &c, &means{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", set, err)
	}
}

// An interrupt during the last evaluation ends the run as well, and it can be
// finished later.
func TestInterruptedAtTheEnd(t *testing.T) {
	dir := copyOf(t, finished(t))
	if err := os.Remove(filepath.Join(dir, resultFile)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, err := parse([]string{"-quiet", "-resume", dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	s, err := newSession(t.Context(), o, &stdout, &stderr, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	before := read(t, dir, stateFile)
	if code := report(s.run(ctx), &stderr); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	s.close()
	if !bytes.Equal(before, read(t, dir, stateFile)) {
		t.Error("the state was written anew")
	}
	if code, _, stderr := here("-quiet", "-resume", dir); code != exitOK {
		t.Error(code, stderr)
	}
	sameWeights(t, dir)
}

// The other architecture runs, reports, and can be gone on with.
func TestChain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, _, stderr := here(tinyRun(dir, "-epochs", "1", "-set", "net.type=GCNN", "-set", "net.factors=[1, 2]",
		"-set", "net.pools=[1]", "-set", "net.dropout=0.2", "-set", "net.dropouts=[2]")...)
	if code != exitOK {
		t.Fatal(code, stderr)
	}
	if html := string(read(t, dir, reportFile)); !strings.Contains(html, "convolution 2") || strings.Contains(html, "block 1") {
		t.Error("the report does not name the convolutions of a chain")
	}
	if code, _, stderr := here("-quiet", "-resume", dir); code != exitOK {
		t.Error(code, stderr)
	}
}
