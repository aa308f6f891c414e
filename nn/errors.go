package nn

import "fmt"

// Error is what this package panics with on programmer error.
type Error struct {
	Op      string
	Problem string
}

func (e *Error) Error() string { return "nn: " + e.Op + ": " + e.Problem }

// ConfigError is a value from outside that a constructor refuses.
type ConfigError struct {
	Layer   string // what was to be built, such as "Adam" or "out_layer"
	Field   string
	Value   any
	Allowed string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("nn: %s: %s is %v, allowed is %s", e.Layer, e.Field, e.Value, e.Allowed)
}

func refuse(op, format string, args ...any) { panic(&Error{op, fmt.Sprintf(format, args...)}) }
