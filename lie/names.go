package lie

import (
	"fmt"
	"strings"
)

// groups lists every group that has a name of its own. A new group is a new file
// and one entry here.
var groups = []Group{T2, SE2}

// Names returns the names of all groups, in the spelling of Group.Name.
func Names() []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name()
	}
	return names
}

// ByName returns the group of that name. Parentheses and the case of letters do
// not matter: "SE(2)", "SE2" and "se2" are the same group.
func ByName(name string) (Group, error) {
	for _, g := range groups {
		if plain(g.Name()) == plain(name) {
			return g, nil
		}
	}
	return nil, fmt.Errorf("lie: unknown group %q; known are %s", name, strings.Join(Names(), ", "))
}

// plain returns a name without parentheses, in lower case.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("(", "", ")", "").Replace(name))
}
