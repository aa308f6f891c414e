package lie

import (
	"fmt"
	"strconv"
	"strings"
)

// groups lists every group that has a name of its own, and the name of its
// stabiliser where that is another. A new group is a new file and one entry here.
var groups = []struct {
	Group
	stabiliser string
}{
	{T2, "C1"},
	{SE2, "SO(2)"},
	{E2, "O(2)"},
	{Mirror, ""},
	{RPlus, ""},
	{Sim2, "SO(2) x R+"},
}

// families lists the groups that have a number in their name, and what the number may be
// of groups that have at most so many components.
var families = []struct {
	name    string
	numbers func(components int) string
	member  func(number string) (Group, bool)
}{
	{"CN", orders, func(s string) (Group, bool) { return ofOrder(s, Cyclic) }},
	{"DN", func(n int) string { return orders(n / 2) }, func(s string) (Group, bool) { return ofOrder(s, Dihedral) }},
	{"R+(N)", func(int) string { return fmt.Sprintf("above 1, up to %d", maxScale) }, scalingsUpTo},
}

func orders(most int) string { return fmt.Sprintf("1 to %d", min(most, maxOrder)) }

func ofOrder(number string, group func(int) Group) (Group, bool) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > maxOrder || strconv.Itoa(n) != number {
		return nil, false
	}
	return group(n), true
}

func scalingsUpTo(number string) (Group, bool) {
	most, err := strconv.ParseFloat(number, 64)
	if err != nil || !(most > 1 && most <= maxScale) {
		return nil, false
	}
	return Scalings(most), true
}

const (
	times  = " x "
	suffix = " periodic"
)

// Names returns the names of all groups, in the spelling of Group.Name. N stands for
// a number.
func Names() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.Name())
	}
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// Known says which names ByName takes, and which numbers may stand in them, for errors.
func Known() string { return KnownWithin(2 * maxOrder) }

// KnownWithin is Known for groups of at most that many components.
func KnownWithin(components int) string {
	var names []string
	for _, g := range groups {
		names = append(names, g.Name())
	}
	for _, f := range families {
		names = append(names, f.name+" (N: "+f.numbers(components)+")")
	}
	return strings.Join(names, ", ") + `, products such as "C4 x R+", and each with "periodic" behind`
}

// ByName returns the group of that name: one of Names, the name of its stabiliser,
// such as "SO(2)", or a direct product of those, such as "C4 x R+". With " periodic"
// behind, it is that of Periodic. Parentheses and the case of letters do not matter:
// "SE(2)", "SE2" and "se2" are the same group. The error is a *ProductError where known
// groups have no product.
func ByName(name string) (Group, error) {
	whole, isPeriodic := strings.CutSuffix(plain(name), suffix)
	g, ok := lookUp(whole)
	if !ok {
		first, rest, _ := strings.Cut(whole, times)
		if g, ok = lookUp(first); !ok || rest == "" {
			return nil, unknown(name)
		}
		for factor := range strings.SplitSeq(rest, times) {
			f, ok := lookUp(factor)
			if !ok {
				return nil, unknown(name)
			}
			if problem := productProblem(g, f); problem != "" {
				return nil, &ProductError{name, problem}
			}
			g = newProduct(productName(g, f), g, f)
		}
	}
	if isPeriodic {
		g = Periodic(g)
	}
	return g, nil
}

// ProductError reports the name of a product of groups that have none.
type ProductError struct{ Name, Problem string }

func (e *ProductError) Error() string { return fmt.Sprintf("lie: group %q: %s", e.Name, e.Problem) }

func unknown(name string) error {
	return fmt.Errorf("lie: unknown group %q; known are %s", name, Known())
}

// lookUp returns the group that is no product by name, in the spelling of plain.
func lookUp(name string) (Group, bool) {
	for _, g := range groups {
		if plain(g.Name()) == name || g.stabiliser != "" && plain(g.stabiliser) == name {
			return g.Group, true
		}
	}
	for _, f := range families {
		number, ok := strings.CutPrefix(name, strings.TrimSuffix(plain(f.name), "n"))
		if g, is := f.member(number); ok && is {
			return g, true
		}
	}
	return nil, false
}

// productName returns the name of the product of two groups: of their stabilisers, or
// of the affine group that has it.
func productName(a, b Group) string {
	name := stabiliser(a) + times + stabiliser(b)
	for _, known := range groups {
		if known.stabiliser == name {
			return known.Name()
		}
	}
	return name
}

func stabiliser(g Group) string {
	for _, known := range groups {
		if known.Name() == g.Name() && known.stabiliser != "" {
			return known.stabiliser
		}
	}
	return g.Name()
}

// plain returns a name without parentheses, in lower case.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("(", "", ")", "").Replace(name))
}
