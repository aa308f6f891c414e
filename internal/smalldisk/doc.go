// Package smalldisk gives tests a disk that fills up, on Linux.
package smalldisk
