/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of 16 bytes in plain C, which every compiler turns into what its CPU has at least. */
#define RUN_VB 16
#define RUN_TARGET
#define RUN_SWAP(v) ((v) << 8 | (v) >> 8)
#define RUN_ISA run_isa_plain
#if defined(__ARM_NEON)
#define RUN_ISA_NAME "neon"
#else
#define RUN_ISA_NAME "scalar"
#endif
#include "run_body.inc"
