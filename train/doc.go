// Command train trains a network that learns its own symmetries, from a
// configuration to a directory that holds weights, metrics and a report.
package main
