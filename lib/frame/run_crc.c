/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32c (RFC 9260 appendix A: polynomial 0x1edc6f41, reflected). The CPU's instruction is used
 * where there is one. */
#include "frame_run.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define CRC_TARGET __attribute__((target("sse4.2")))
#define CRC_64(crc, v) (uint32_t) _mm_crc32_u64(crc, v)
#define CRC_8(crc, v) _mm_crc32_u8(crc, v)
static bool run_crc_have(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <asm/hwcap.h>
#define CRC_TARGET __attribute__((target("+crc")))
#define CRC_64(crc, v) __builtin_aarch64_crc32cx(crc, v)
#define CRC_8(crc, v) __builtin_aarch64_crc32cb(crc, v)
#if defined(__clang__)
#undef CRC_64
#undef CRC_8
#define CRC_64(crc, v) __builtin_arm_crc32cd(crc, v)
#define CRC_8(crc, v) __builtin_arm_crc32cb(crc, v)
#endif
static bool run_crc_have(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
#endif

uint32_t frun_crc32c_plain(uint32_t crc, const uint8_t *p, unsigned n)
{
	static const uint32_t by_nibble[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	for (; n > 0; n--) {
		crc ^= *p++;
		crc = crc >> 4 ^ by_nibble[crc & 15];
		crc = crc >> 4 ^ by_nibble[crc & 15];
	}
	return crc;
}

#ifdef CRC_TARGET
CRC_TARGET static uint32_t by_cpu(uint32_t crc, const uint8_t *p, unsigned n)
{
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t v;
		memcpy(&v, p, 8);
		crc = CRC_64(crc, v);
	}
	for (; n > 0; n--)
		crc = CRC_8(crc, *p++);
	return crc;
}
#endif

uint32_t frun_crc32c(uint32_t crc, const uint8_t *p, unsigned n)
{
#ifdef CRC_TARGET
	if (run_crc_have())
		return by_cpu(crc, p, n);
#endif
	return frun_crc32c_plain(crc, p, n);
}
