// SPDX-License-Identifier: MIT

#include "textflag.h"

// func ticks() uint64
TEXT ·ticks(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET

// func spin(n uint64): the loop of mb_spin
TEXT ·spin(SB), NOSPLIT, $0-8
	MOVQ n+0(FP), BX
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, CX

again:
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	SUBQ CX, AX
	CMPQ AX, BX
	JB   again
	RET
