//go:build !purego

#include "textflag.h"

// The order of additions is that of dotsGo and dotGo: integers do not care,
// and floats are neither fused nor reordered.

// func dotsAVX2(dst *int32, codes *int8, query *int16, rows, stride int)
//
// Four rows at a time share what is read of the query. Codes are widened to 16
// bits; VPMADDWD multiplies and adds pairs in 32 bits, without saturation.
// Memory is fetched 8 KiB ahead, in order: without that the four streams keep
// the hardware from doing so, and a scan takes 2.3 times as long (100,000 x 384
// on an EPYC: 2.5 ms; 1.1 ms is what reading the codes takes). Fetching past the
// end is harmless.
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ query+16(FP), DX
	MOVQ rows+24(FP), CX
	MOVQ stride+32(FP), R8
	LEAQ (R8)(R8*2), R9

four:
	CMPQ  CX, $4
	JLT   one
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  SI, R10
	MOVQ  DX, R11
	MOVQ  R8, R12
	LEAQ  8192(SI), R13

fourStep:
	PREFETCHT0 (R13)
	PREFETCHT0 64(R13)
	ADDQ       $128, R13
	VMOVDQU    (R11), Y12
	VMOVDQU    32(R11), Y13
	VPMOVSXBW  (R10), Y4
	VPMOVSXBW  16(R10), Y5
	VPMOVSXBW  (R10)(R8*1), Y6
	VPMOVSXBW  16(R10)(R8*1), Y7
	VPMOVSXBW  (R10)(R8*2), Y8
	VPMOVSXBW  16(R10)(R8*2), Y9
	VPMOVSXBW  (R10)(R9*1), Y10
	VPMOVSXBW  16(R10)(R9*1), Y11
	VPMADDWD   Y12, Y4, Y4
	VPMADDWD   Y13, Y5, Y5
	VPMADDWD   Y12, Y6, Y6
	VPMADDWD   Y13, Y7, Y7
	VPMADDWD   Y12, Y8, Y8
	VPMADDWD   Y13, Y9, Y9
	VPMADDWD   Y12, Y10, Y10
	VPMADDWD   Y13, Y11, Y11
	VPADDD     Y4, Y0, Y0
	VPADDD     Y6, Y1, Y1
	VPADDD     Y8, Y2, Y2
	VPADDD     Y10, Y3, Y3
	VPADDD     Y5, Y0, Y0
	VPADDD     Y7, Y1, Y1
	VPADDD     Y9, Y2, Y2
	VPADDD     Y11, Y3, Y3
	ADDQ       $32, R10
	ADDQ       $64, R11
	SUBQ       $32, R12
	JNZ        fourStep

	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVDQU      X0, (DI)
	LEAQ         (SI)(R8*4), SI
	ADDQ         $16, DI
	SUBQ         $4, CX
	JMP          four

one:
	TESTQ CX, CX
	JZ    done
	VPXOR Y0, Y0, Y0
	MOVQ  DX, R11
	MOVQ  R8, R12

oneStep:
	VPMOVSXBW (SI), Y4
	VPMOVSXBW 16(SI), Y5
	VPMADDWD  (R11), Y4, Y4
	VPMADDWD  32(R11), Y5, Y5
	VPADDD    Y4, Y0, Y0
	VPADDD    Y5, Y0, Y0
	ADDQ      $32, SI
	ADDQ      $64, R11
	SUBQ      $32, R12
	JNZ       oneStep

	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	DECQ         CX
	JMP          one

done:
	VZEROUPPER
	RET

// func dotAVX2(a, b *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ   a+0(FP), SI
	MOVQ   b+8(FP), DX
	MOVQ   n+16(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

step:
	CMPQ    CX, $32
	JLT     reduce
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	VMULPS  (DX), Y4, Y4
	VMULPS  32(DX), Y5, Y5
	VMULPS  64(DX), Y6, Y6
	VMULPS  96(DX), Y7, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $128, SI
	ADDQ    $128, DX
	SUBQ    $32, CX
	JMP     step

reduce:
	VADDPS       Y1, Y0, Y0
	VADDPS       Y3, Y2, Y2
	VADDPS       Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VMOVSHDUP    X0, X1
	VADDSS       X1, X0, X0
	VZEROUPPER
	MOVSS        X0, ret+24(FP)
	RET

// func addAVX2(sums *uint16, bits, table *byte, blocks, pairs, ahead int)
//
// A shuffle looks up the half bytes of 32 rows at once (André, Kermarrec and
// Le Scouarnec, Fast Scan). The sums of four groups fit a byte; 16-bit lanes
// then add up even and odd bytes together in Y0, odd ones alone in Y1.
TEXT ·addAVX2(SB), NOSPLIT, $0-48
	MOVQ         sums+0(FP), DI
	MOVQ         bits+8(FP), SI
	MOVQ         table+16(FP), DX
	MOVQ         blocks+24(FP), CX
	MOVQ         pairs+32(FP), R10
	MOVQ         ahead+40(FP), R14
	MOVL         $0x0f0f0f0f, AX
	VMOVD        AX, X15
	VPBROADCASTD X15, Y15

block:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	MOVQ  DX, R12
	MOVQ  R10, R13

pair:
	PREFETCHT0     (SI)(R14*1)
	VMOVDQU        (SI), Y2
	VMOVDQU        32(SI), Y3
	VPSRLW         $4, Y2, Y4
	VPSRLW         $4, Y3, Y5
	VPAND          Y15, Y2, Y2
	VPAND          Y15, Y3, Y3
	VPAND          Y15, Y4, Y4
	VPAND          Y15, Y5, Y5
	VBROADCASTI128 (R12), Y6
	VBROADCASTI128 16(R12), Y7
	VBROADCASTI128 32(R12), Y8
	VBROADCASTI128 48(R12), Y9
	VPSHUFB        Y2, Y6, Y6
	VPSHUFB        Y4, Y7, Y7
	VPSHUFB        Y3, Y8, Y8
	VPSHUFB        Y5, Y9, Y9
	VPADDB         Y6, Y7, Y6
	VPADDB         Y8, Y9, Y8
	VPADDB         Y6, Y8, Y6
	VPADDW         Y6, Y0, Y0
	VPSRLW         $8, Y6, Y6
	VPADDW         Y6, Y1, Y1
	ADDQ           $64, SI
	ADDQ           $64, R12
	SUBQ           $2, R13
	JNZ            pair

	VPSLLW  $8, Y1, Y2
	VPSUBW  Y2, Y0, Y0
	VPADDW  (DI), Y0, Y0
	VPADDW  32(DI), Y1, Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ    $64, DI
	DECQ    CX
	JNZ     block
	VZEROUPPER
	RET

// func pickAVX2(masks *uint32, sums, weights *uint16, t *threshold, blocks int)
TEXT ·pickAVX2(SB), NOSPLIT, $0-40
	MOVQ         masks+0(FP), DI
	MOVQ         sums+8(FP), SI
	MOVQ         weights+16(FP), DX
	MOVQ         t+24(FP), R8
	MOVQ         blocks+32(FP), CX
	VPBROADCASTW (R8), Y12
	VPBROADCASTW 2(R8), Y13
	VPBROADCASTW 4(R8), Y14

pick:
	VMOVDQU   (SI), Y0
	VMOVDQU   32(SI), Y1
	VPMULHUW  (DX), Y12, Y2
	VPMULHUW  32(DX), Y12, Y3
	VPADDUSW  Y13, Y2, Y2
	VPADDUSW  Y13, Y3, Y3
	VPSUBUSW  Y14, Y2, Y2
	VPSUBUSW  Y14, Y3, Y3
	VPMAXUW   Y0, Y2, Y2
	VPMAXUW   Y1, Y3, Y3
	VPCMPEQW  Y0, Y2, Y2
	VPCMPEQW  Y1, Y3, Y3
	VPACKSSWB Y3, Y2, Y2
	VPERMQ    $0xd8, Y2, Y2
	VPMOVMSKB Y2, AX
	MOVL      AX, (DI)
	ADDQ      $4, DI
	ADDQ      $64, SI
	ADDQ      $64, DX
	DECQ      CX
	JNZ       pick
	VZEROUPPER
	RET

// The lanes whose sign changes where lanes 1, 2 and 4 apart are added.
DATA flips<>+0(SB)/8, $0x8000000000000000
DATA flips<>+8(SB)/8, $0x8000000000000000
DATA flips<>+16(SB)/8, $0x8000000000000000
DATA flips<>+24(SB)/8, $0x8000000000000000
DATA flips<>+32(SB)/8, $0
DATA flips<>+40(SB)/8, $0x8000000080000000
DATA flips<>+48(SB)/8, $0
DATA flips<>+56(SB)/8, $0x8000000080000000
DATA flips<>+64(SB)/8, $0
DATA flips<>+72(SB)/8, $0
DATA flips<>+80(SB)/8, $0x8000000080000000
DATA flips<>+88(SB)/8, $0x8000000080000000
GLOBL flips<>(SB), RODATA|NOPTR, $96

// func hadamardAVX2(v *float32, n int)
TEXT ·hadamardAVX2(SB), NOSPLIT, $0-16
	MOVQ    v+0(FP), DI
	MOVQ    n+8(FP), CX
	SHLQ    $2, CX
	ADDQ    DI, CX               // the end
	VMOVUPS flips<>+0(SB), Y4
	VMOVUPS flips<>+32(SB), Y5
	VMOVUPS flips<>+64(SB), Y6
	MOVQ    DI, SI

lanes:
	VMOVUPS    (SI), Y0
	VPERMILPS  $0xb1, Y0, Y1
	VXORPS     Y4, Y0, Y0
	VADDPS     Y0, Y1, Y0
	VPERMILPS  $0x4e, Y0, Y1
	VXORPS     Y5, Y0, Y0
	VADDPS     Y0, Y1, Y0
	VPERM2F128 $1, Y0, Y0, Y1
	VXORPS     Y6, Y0, Y0
	VADDPS     Y0, Y1, Y0
	VMOVUPS    Y0, (SI)
	ADDQ       $32, SI
	CMPQ       SI, CX
	JLT        lanes

	MOVQ $32, R8 // how far apart, in bytes

level:
	LEAQ (DI)(R8*1), DX
	CMPQ DX, CX
	JGE  mixed
	MOVQ DI, SI

group:
	LEAQ (SI)(R8*1), DX
	MOVQ R8, BX

pairs:
	VMOVUPS (SI), Y0
	VMOVUPS (DX), Y1
	VADDPS  Y1, Y0, Y2
	VSUBPS  Y1, Y0, Y3
	VMOVUPS Y2, (SI)
	VMOVUPS Y3, (DX)
	ADDQ    $32, SI
	ADDQ    $32, DX
	SUBQ    $32, BX
	JNZ     pairs
	MOVQ    DX, SI
	CMPQ    SI, CX
	JLT     group
	SHLQ    $1, R8
	JMP     level

mixed:
	VZEROUPPER
	RET

// func scaleAVX2(v, by *float32, n int)
TEXT ·scaleAVX2(SB), NOSPLIT, $0-24
	MOVQ v+0(FP), DI
	MOVQ by+8(FP), SI
	MOVQ n+16(FP), CX

scale:
	VMOVUPS (DI), Y0
	VMULPS  (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	SUBQ    $8, CX
	JG      scale
	VZEROUPPER
	RET

// func prefetch(p unsafe.Pointer, n int)
TEXT ·prefetch(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX

line:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	SUBQ       $64, CX
	JG         line
	RET
