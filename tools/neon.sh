#!/usr/bin/env bash
# Writes the machine words of the NEON instructions that Go's assembler does not know.
#
#	tools/neon.sh asm/*_arm64.s
#
# In those files such an instruction is a comment in GNU syntax behind its word:
#
#	WORD $0x4e22d420 // fadd v0.4s, v1.4s, v2.4s
#
# Only the comment counts: every word is written anew, by the GNU assembler. To add an instruction, write
# "WORD $0x00000000 // fadd ..." and run this.
set -euo pipefail

prefix=aarch64-linux-gnu-
if [ "$(go env GOHOSTARCH)" = arm64 ]; then
	prefix=
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

word='^[[:blank:]]*WORD[[:blank:]]+[$]0x[0-9a-fA-F]+[[:blank:]]*//[[:blank:]]*'
for file in "$@"; do
	if grep -nE '^[[:blank:]]*WORD' "$file" | grep -vE ":${word#^}[a-z]"; then
		echo "$file: the lines above have no instruction" >&2
		exit 1
	fi
	# The marker before each instruction is its line, for the assembler's errors.
	awk -v file="$file" -v word="$word" '$0 ~ word { line = $0; sub(word, "", line); printf "# %d \"%s\"\n%s\n", NR, file, line }' "$file" >"$dir/words.s"
	"${prefix}as" -o "$dir/words.o" "$dir/words.s"
	"${prefix}objcopy" -O binary -j .text "$dir/words.o" "$dir/words.bin"
	od -An -v -w4 -t x4 --endian=little "$dir/words.bin" | tr -d ' ' >"$dir/words"
	if [ "$(grep -cE "$word" "$file" || true)" != "$(wc -l <"$dir/words")" ]; then
		echo "$file: a comment is not one instruction" >&2
		exit 1
	fi
	copy=$dir/$(basename "$file")
	awk -v words="$dir/words" -v word="$word" '$0 ~ word { getline w <words; sub(word, ""); $0 = "\tWORD $0x" w " // " $0 } { print }' "$file" >"$copy"
	go tool -modfile=tools/go.mod asmfmt -w "$copy"
	cmp -s "$copy" "$file" || cat "$copy" >"$file"
done
