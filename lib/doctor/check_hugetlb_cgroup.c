/* SPDX-License-Identifier: BSD-3-Clause */
/* How many of the free hugepages the control group of this process may have (Linux, Documentation/
 * admin-guide/cgroup-v2.rst, "HugeTLB"). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cgroup.h"

#define SIZES_MAX 8

/* The kernel's way to write a size in these names: "2MB", "1GB". */
static void hugetlb_size(uint64_t kb, char *out, size_t size)
{
	if (kb >= 1 << 20)
		snprintf(out, size, "%" PRIu64 "GB", kb >> 20);
	else if (kb >= 1 << 10)
		snprintf(out, size, "%" PRIu64 "MB", kb >> 10);
	else
		snprintf(out, size, "%" PRIu64 "KB", kb);
}

/* The limit for pages of one size: of those in use, or of those that are set aside. */
static uint64_t hugetlb_limit(struct exam *x, const char *size, struct sbuf *file)
{
	static const char *const kinds[] = {"", "rsvd."};
	uint64_t least = CGROUP_NONE;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct sbuf v2 = {0}, v1 = {0}, in = {0};
		sbuf_addf(&v2, "hugetlb.%s.%smax", size, kinds[i]);
		sbuf_addf(&v1, "hugetlb.%s.%slimit_in_bytes", size, kinds[i]);
		uint64_t limit = cgroup_limit(x, v2.s, "hugetlb", v1.s, &in);
		if (limit < least) {
			least = limit;
			sbuf_reset(file);
			sbuf_add(file, sbuf_str(&in));
		}
		sbuf_free(&v2);
		sbuf_free(&v1);
		sbuf_free(&in);
	}
	return least;
}

/* Tells of the limit for one size. enough: pages of some size are allowed. */
static void hugetlb_tell(struct exam *x, const char *size, uint64_t limit, const char *file,
			 bool enough)
{
	enum doctor_severity severity = limit >= START_BYTES || enough ? DOCTOR_NOTE
					: exam_wants_physical(x)       ? DOCTOR_ERROR
								       : DOCTOR_WARNING;
	struct sbuf text = {0};

	if (limit > 0)
		exam_bytes(limit, &text);
	else
		sbuf_add(&text, "none");
	struct doctor_finding *f =
		found(x, severity, NULL, "this process may have %s of the hugepages of %s", text.s,
		      size);
	found_why(
		f, "%s",
		severity == DOCTOR_ERROR
			? "its control group has a limit, and without an IOMMU a NIC can read from hugepages alone"
			: "its control group has a limit, whatever is free: ports of many queues or large rings may not fit");
	found_mend(f, "echo %s > %s", strcmp(file + strlen(file) - 4, ".max") == 0 ? "max" : "-1",
		   exam_word(x, file));
	sbuf_free(&text);
}

static void hugetlb_cgroup_run(struct exam *x)
{
	char in[SIZES_MAX][SYS_NAME], size[SIZES_MAX][32];
	unsigned n = sys_names(&x->sys, in, SIZES_MAX, "/sys/kernel/mm/hugepages"), used = 0;
	uint64_t limit[SIZES_MAX], kb;
	struct sbuf file[SIZES_MAX] = {{0}};
	bool enough = false;

	for (unsigned i = 0; i < n; i++) {
		int64_t total = 0;
		if (sscanf(in[i], "hugepages-%" SCNu64, &kb) != 1 || kb == 0 || kb >= 1ull << 40 ||
		    sys_number(&x->sys, 0, 1ll << 40, &total,
			       "/sys/kernel/mm/hugepages/%s/nr_hugepages", in[i]) != SYS_READ ||
		    total == 0)
			continue;
		hugetlb_size(kb, size[used], sizeof(size[used]));
		limit[used] = hugetlb_limit(x, size[used], &file[used]);
		enough |= limit[used] >= START_BYTES;
		used++;
	}
	for (unsigned i = 0; i < used; i++) {
		if (limit[i] != CGROUP_NONE)
			hugetlb_tell(x, size[i], limit[i], sbuf_str(&file[i]), enough);
		sbuf_free(&file[i]);
	}
}

const struct check check_hugetlb_cgroup = {"hugetlb-cgroup", hugetlb_cgroup_run};
