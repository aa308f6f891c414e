// Package policy holds the tests of rules that no single package can check
// about itself, such as what the engine may import.
package policy
