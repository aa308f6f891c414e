#!/usr/bin/env bash
# Writes the machine words of the NEON instructions that Go's assembler does not know.
#
#	tools/neon.sh asm/*_arm64.s
#
# In those files such an instruction is a comment in GNU syntax behind its word:
#
#	WORD $0x4e22d420 // fadd v0.4s, v1.4s, v2.4s
#
# Only the comment counts: every word is set to zero first and then written anew by asm2plan9s, so a word that does not
# fit its comment cannot survive. To add an instruction, write "WORD $0x00000000 // fadd ..." and run this.
#
# asm2plan9s assembles for the architecture that it runs on and calls "as". Elsewhere than on arm64 it therefore runs
# as an arm64 program under qemu-aarch64, with the cross assembler as its only "as".
set -euo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"

GOARCH=arm64 go build -modfile=tools/go.mod -o "$dir/asm2plan9s" github.com/minio/asm2plan9s
emulator=()
if [ "$(go env GOHOSTARCH)" = arm64 ]; then
	ln -s "$(command -v as)" "$dir/bin/as"
else
	ln -s "$(command -v aarch64-linux-gnu-as)" "$dir/bin/as"
	emulator=("$(command -v qemu-aarch64)")
fi

# One directory per file: asm2plan9s assembles each instruction in a process of its own, so the files run side by side.
assemble() {
	local file=$1 copy
	copy=$dir/$(basename "$file")
	# asm2plan9s recognises its words by the width of what stands before the comment: one blank, no alignment.
	sed -E 's|^[[:blank:]]*WORD[[:blank:]]+\$0x[0-9a-fA-F]{8}[[:blank:]]*//[[:blank:]]*|\tWORD $0x00000000 // |' "$file" >"$copy"
	PATH=$dir/bin TMPDIR=$dir "${emulator[@]}" "$dir/asm2plan9s" "$copy" >"$copy.log" || {
		echo "$file: $(tail -n 1 "$copy.log")" >&2
		return 1
	}
	if grep -n 'WORD $0x00000000' "$copy" >&2; then
		echo "$file: the lines above were not assembled" >&2
		return 1
	fi
	go tool -modfile=tools/go.mod asmfmt -w "$copy"
	cmp -s "$copy" "$file" || cat "$copy" >"$file"
}

running=()
for file in "$@"; do
	assemble "$file" &
	running+=($!)
done
failed=0
for job in "${running[@]}"; do
	wait "$job" || failed=1
done
exit "$failed"
