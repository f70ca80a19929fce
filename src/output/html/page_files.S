/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page as bytes in the program, and a table of them: struct html_file in
 * html_internal.h. The Makefile writes html_files.inc, with a line `file "web/NAME"` for each. */
	.macro file path
	.section .rodata
path\@:	.asciz "\path"
start\@:
	.incbin "\path"
end\@:
	.byte 0
	.section .data.rel.ro, "aw"
	.quad path\@, start\@, end\@
	.endm

	.section .data.rel.ro, "aw"
	.balign 8
	.globl html_files
html_files:
	.include "html_files.inc"
	.section .data.rel.ro, "aw"
	.quad 0, 0, 0

	.section .note.GNU-stack, "", @progbits
