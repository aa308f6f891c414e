package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// unknown reports a name that does not exist, with the nearest that does.
func unknown(what, name string, known []string) error {
	all := strings.Join(known, ", ")
	if len(known) > 20 {
		all = "docs/command-line.md explains them all"
	}
	return fmt.Errorf("unknown %s %q; did you mean %q? (%s)", what, name, Nearest(name, known), all)
}

// Nearest returns the known name with the smallest edit distance to name, where
// the last part of a key such as "train.lr" may stand for all of it.
func Nearest(name string, known []string) string {
	best, distance := "", 1<<30
	name = strings.ToLower(name)
	for _, k := range known {
		whole := strings.ToLower(k)
		last := whole[strings.LastIndexByte(whole, '.')+1:]
		if d := min(editDistance(name, whole), editDistance(name, last)); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// editDistance is Levenshtein's distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Keys returns the keys of every value of a Config, such as "train.lr".
func Keys() []string {
	var list []string
	var walk func(prefix string, t reflect.Type)
	walk = func(prefix string, t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			key := prefix + f.Tag.Get("toml")
			if f.Type.Kind() == reflect.Struct {
				walk(key+".", f.Type)
			} else {
				list = append(list, key)
			}
		}
	}
	walk("", reflect.TypeFor[Config]())
	return list
}

// tables returns the tables that the keys are in, such as "train".
func tables() []string {
	var list []string
	for _, key := range Keys() {
		if table, _, ok := strings.Cut(key, "."); ok && !slices.Contains(list, table) {
			list = append(list, table)
		}
	}
	return list
}

// Merge sets the values that a TOML text states, and leaves the others. source
// says where the text came from.
func (c *Config) Merge(text, source string) error {
	if err := checkText(text); err != nil {
		return mistake("%s: %w", source, err)
	}
	c.ownLists()
	if _, err := toml.Decode(text, c); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return mistake("%s: line %d: %s", source, parse.Position.Line, parse.Message)
		}
		return mistake("%s: %s", source, oneLine(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	return nil
}

// ownLists gives c lists that no other Config has: the decoder writes a list where the
// last one lies, which a copy of c shares.
func (c *Config) ownLists() {
	for _, key := range Keys() {
		if list, ok := c.at(key).Addr().Interface().(*[]int); ok {
			*list = slices.Clone(*list)
		}
	}
}

// checkText reports what the decoder would take without a word, or make something
// else of. Mistakes in the syntax and in types it reports itself.
func checkText(text string) error {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") { // left out by the decoder
		return errors.New("begins as UTF-16 does; give the text in UTF-8")
	}
	if err := checkKeys(text); err != nil {
		return err
	}
	return checkSeed(text)
}

// checkKeys reports the first key that does not exist. To the decoder keys are the same
// in any case of their letters, and of several that stand for one value it takes any.
func checkKeys(text string) error {
	var values map[string]any
	meta, err := toml.Decode(text, &values)
	if err != nil {
		return nil
	}
	for _, key := range meta.Keys() {
		switch name := key.String(); {
		case slices.Contains(Keys(), name), slices.Contains(tables(), name):
		case len(key) == 1 && meta.Type(key[0]) == "Hash":
			return unknown("table", name, tables())
		default:
			return unknown("key", name, Keys())
		}
	}
	return nil
}

// checkSeed reports a negative seed, which the decoder would wrap round.
func checkSeed(text string) error {
	var head struct {
		Seed int64 `toml:"seed"`
	}
	if _, err := toml.Decode(text, &head); err == nil && head.Seed < 0 {
		return valueError("seed", head.Seed, seeds)
	}
	return nil
}

// MergeFile sets the values that a TOML file states. A file that names a preset
// starts from that preset.
func (c *Config) MergeFile(path string) error {
	text, err := readText(path)
	if err != nil {
		return mistake("-config: %w", err)
	}
	if err := checkText(text); err != nil {
		return mistake("%s: %w", path, err)
	}
	var head struct {
		Preset *string `toml:"preset"`
	}
	if _, err := toml.Decode(text, &head); err == nil && head.Preset != nil {
		if *head.Preset == "" {
			return mistake("%s: preset is empty; name one, or leave it out", path)
		}
		if *c, err = Lookup(*head.Preset); err != nil {
			return mistake("%s: %w", path, err)
		}
	}
	name := c.Preset
	err = c.Merge(text, path)
	c.Preset = name // in full, where the file has the short form
	return err
}

// maxText bounds a file of a configuration, in bytes. One that states all keys has about
// 1200, and the rest is room for comments.
const maxText = 1 << 16

// readText returns the text of a file, which need not have an end.
func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // read only: nothing to lose
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%s holds more than %d bytes; give the TOML file of a configuration", path, maxText)
	}
	return string(text), err
}

// Set applies one -set key=value. The value is a TOML value; quotes around
// strings may be left out.
func (c *Config) Set(assignment string) error {
	key, value, ok := strings.Cut(assignment, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok || key == "" || value == "" || strings.ContainsAny(assignment, "\n\r") {
		return mistake("-set %q: write key=value, such as train.lr=1e-3", assignment)
	}
	if key == "preset" {
		return mistake("-set %s: a preset is chosen with -preset %s", assignment, value)
	}
	target := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(key, ".") {
		if target = field(target, name); !target.IsValid() {
			return mistake("-set %s: %w", assignment, unknown("key", key, Keys()))
		}
	}
	if target.Kind() == reflect.Struct {
		return mistake("-set %s: %q is a group of keys; name one of them: %s", assignment, key, strings.Join(below(key), ", "))
	}
	if target.Kind() == reflect.String && !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, `'`) {
		target.SetString(value)
		return nil
	}
	text := key + " = " + value
	if err := checkSeed(text); err != nil {
		return err
	}
	if err := c.Merge(text, "-set "+assignment); err != nil {
		return mistake("-set %s: %q takes %s", assignment, key, kind(target.Type()))
	}
	return nil
}

// field returns the field of a struct that has this TOML name, or an invalid
// value.
func field(v reflect.Value, name string) reflect.Value {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("toml") == name {
				return v.Field(i)
			}
		}
	}
	return reflect.Value{}
}

func below(group string) []string {
	var list []string
	for _, k := range Keys() {
		if strings.HasPrefix(k, group+".") {
			list = append(list, k)
		}
	}
	return list
}

// kind names a type for people.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list of whole numbers, such as [1, 2]"
	case reflect.String:
		return "a text"
	}
	return "a whole number"
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// at returns the field of a key.
func (c *Config) at(key string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(key, ".") {
		v = field(v, name)
	}
	return v
}

// Value returns the value of a key as -set takes it.
func (c *Config) Value(key string) string { return written(c.at(key).Interface()) }

// written returns a value as -set takes it.
func written(value any) string {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.String && v.Len() == 0 {
		return `""` // -set refuses a value that is left out
	}
	if v.Kind() != reflect.Slice {
		return fmt.Sprint(value)
	}
	list := make([]string, v.Len())
	for i := range list {
		list[i] = fmt.Sprint(v.Index(i).Interface())
	}
	return "[" + strings.Join(list, ", ") + "]"
}
