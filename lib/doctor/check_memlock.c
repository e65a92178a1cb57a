/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory the process may keep from being swapped. vfio and verbs count all memory that a
 * device reads, the kernel the rings of a port on an interface; CAP_IPC_LOCK lifts the limit. */
#include "exam.h"

#include <linux/capability.h>

#define PAGES_BYTES (1ull << 30) /* hugepages of an ordinary start */
#define RING_BYTES (16ull << 20) /* rings of one queue with frames of an ordinary MTU */

static bool memlock_for_rings(const struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++)
		if (x->nic[i].for_kernel)
			return true;
	return false;
}

/* Does DPDK work beside a driver of the kernel? */
static bool memlock_for_verbs(const struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++)
		if (x->nic[i].for_dpdk && x->nic[i].kind == DOCTOR_DRIVER_SHARED)
			return true;
	return false;
}

static void memlock_mend(struct exam *x, struct doctor_finding *f, uint64_t wanted)
{
	if (x->self->memlock_hard_bytes >= wanted)
		found_mend(f, "ulimit -l $(ulimit -Hl)");
	else if (x->self->parent > 0)
		found_mend(f, "prlimit --pid %d --memlock=unlimited:unlimited", x->self->parent);
	else
		found_mend(f, "docker run --ulimit memlock=-1 ...");
}

static void memlock_run(struct exam *x)
{
	bool vfio = exam_wants_vfio(x), pages = vfio || memlock_for_verbs(x);
	bool rings = !pages && memlock_for_rings(x);
	/* Ports on interfaces raise the limit as far as they may. */
	uint64_t limit = rings ? x->self->memlock_hard_bytes : x->self->memlock_bytes;
	uint64_t wanted = pages ? PAGES_BYTES : rings ? RING_BYTES : 0;
	struct sbuf text = {0};

	if (limit == UINT64_MAX || exam_cap(x, CAP_IPC_LOCK)) {
		found(x, DOCTOR_OK, NULL, "no limit");
		return;
	}
	exam_bytes(limit, &text);
	if (limit >= wanted) {
		found(x, DOCTOR_OK, NULL, "%s", text.s);
	} else {
		bool fails = rings || limit < RING_BYTES;
		struct doctor_finding *f = found(x, fails ? DOCTOR_ERROR : DOCTOR_WARNING, NULL,
						 "at most %s may be locked", text.s);
		if (pages)
			found_why(
				f,
				"%s all hugepages that a device reads from; opening it fails above the limit",
				vfio ? "vfio locks" : "the driver locks");
		else
			found_why(f, "the rings of a port lock about 16 MB for each of its queues");
		memlock_mend(x, f, wanted);
	}
	sbuf_free(&text);
}

const struct check check_memlock = {"memlock", memlock_run};
