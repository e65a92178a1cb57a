/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines in plain C, with vectors of 16 bytes, for which every compiler uses what any CPU of
 * the architecture has. */
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
