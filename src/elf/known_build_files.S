/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of symbols/ as bytes in the program, and a list of them: struct known_build in
 * known_builds.c. The Makefile writes known_builds.inc, with a line
 * `build "BUILD-ID" "FILE"` for each. */
	.macro build id path
	.section .rodata
id\@:	.asciz "\id"
start\@:
	.incbin "\path"
end\@:
	.section .data.rel.ro, "aw"
	.quad id\@, start\@, end\@
	.endm

	.section .data.rel.ro, "aw"
	.balign 8
	.globl known_builds
known_builds:
	.include "known_builds.inc"
	.section .data.rel.ro, "aw"
	.quad 0, 0, 0

	.section .note.GNU-stack, "", @progbits
