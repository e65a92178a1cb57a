/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the ways to write and to read frames this CPU takes: lib/frame has them for SSSE3, AVX2
 * and AVX-512, and the plain one. */
#include "exam.h"

#include <string.h>

static void cpu_flags_run(struct exam *x)
{
	const char *writer = x->self->writer;
	bool slow = strcmp(writer, "scalar") == 0 || strcmp(writer, "ssse3") == 0;

	if (!slow) {
		found(x, DOCTOR_OK, NULL, "frames are written by %s", writer);
		return;
	}
	struct doctor_finding *f = found(x, DOCTOR_NOTE, NULL, "frames are written by %s%s", writer,
					 x->x86 ? ", without avx2" : "");
	found_why(
		f,
		x->virtual
			? "fields that vary cost more of each core; a hypervisor may hide what the CPU has (QEMU: -cpu host)"
			: "fields that vary cost more of each core");
}

const struct check check_cpu_flags = {"cpu-flags", cpu_flags_run};
