/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the checks and keeps what they find. */
#include "exam.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "visible.h"

#define UNREADABLE_MOST 4 /* files that are told for each check */
#define WHY_UNREADABLE "is not readable: "

#define CHECK(name) extern const struct check check_##name;
#include "check_list.h"
#undef CHECK
#define CHECK(name) &check_##name,
const struct check *const checks[] = {
#include "check_list.h"
	NULL};

static char *exam_vtext(const char *fmt, va_list ap)
{
	struct sbuf plain = {0}, seen = {0};

	sbuf_vaddf(&plain, fmt, ap);
	visible_add(&seen, sbuf_str(&plain), plain.len);
	sbuf_free(&plain);
	return seen.s != NULL ? seen.s : xstrdup("");
}

struct doctor_finding *found(struct exam *x, enum doctor_severity severity, const char *subject,
			     const char *what, ...)
{
	struct doctor_report *r = x->report;
	struct sbuf name = {0};
	va_list ap;

	/* Nobody has asked for a device, so there is nothing that will not work. */
	if (severity == DOCTOR_ERROR && !x->named)
		severity = DOCTOR_WARNING;
	r->finding = xrealloc(r->finding, (r->n + 1) * sizeof(*r->finding));
	struct doctor_finding *f = &r->finding[r->n++];
	if (subject != NULL)
		visible_add(&name, subject, strlen(subject));
	*f = (struct doctor_finding){.id = x->check->id,
				     .severity = severity,
				     .subject = name.s != NULL ? name.s : xstrdup(""),
				     .why = xstrdup(""),
				     .mend = xstrdup("")};
	va_start(ap, what);
	f->what = exam_vtext(what, ap);
	va_end(ap);
	r->count[severity]++;
	return f;
}

void found_why(struct doctor_finding *f, const char *fmt, ...)
{
	va_list ap;

	free(f->why);
	va_start(ap, fmt);
	f->why = exam_vtext(fmt, ap);
	va_end(ap);
}

void found_mend(struct doctor_finding *f, const char *fmt, ...)
{
	va_list ap;

	free(f->mend);
	va_start(ap, fmt);
	f->mend = exam_vtext(fmt, ap);
	va_end(ap);
}

/* Tells of a file that was not readable. Of the files of a thousand CPUs only the first few are
 * told. */
static void exam_unreadable(void *arg, const char *path, const char *why, bool denied)
{
	struct exam *x = arg;
	unsigned same = 0;

	for (unsigned i = 0; i < x->report->n; i++)
		same += x->report->finding[i].id == x->check->id &&
			strstr(x->report->finding[i].what, WHY_UNREADABLE) != NULL;
	if (same >= UNREADABLE_MOST)
		return;
	struct doctor_finding *f = found(x, denied ? DOCTOR_NOTE : DOCTOR_WARNING, NULL,
					 "%s " WHY_UNREADABLE "%s", path, why);
	found_why(f, "what it would tell is not judged");
}

void found_kernel_args(const struct exam *x, struct doctor_finding *f, const char *args)
{
	struct sbuf why = {0};

	switch (x->os) {
	case OS_DEBIAN:
	case OS_UBUNTU:
		found_mend(
			f,
			"sed -i 's/^GRUB_CMDLINE_LINUX=\"/&%s /' /etc/default/grub && update-grub && reboot",
			args);
		break;
	case OS_REDHAT:
		found_mend(f, "grubby --update-kernel=ALL --args=\"%s\" && reboot", args);
		break;
	case OS_OTHER:
		sbuf_addf(&why, "%s; to be added to the kernel's command line: %s", f->why, args);
		found_why(f, "%s", why.s);
		sbuf_free(&why);
		break;
	}
}

void found_kernel_no_arg(const struct exam *x, struct doctor_finding *f, const char *arg)
{
	struct sbuf why = {0};

	switch (x->os) {
	case OS_DEBIAN:
	case OS_UBUNTU:
		found_mend(f, "sed -i 's/\\b%s\\b//' /etc/default/grub && update-grub && reboot",
			   arg);
		break;
	case OS_REDHAT:
		found_mend(f, "grubby --update-kernel=ALL --remove-args=\"%s\" && reboot", arg);
		break;
	case OS_OTHER:
		sbuf_addf(&why, "%s; to be taken from the kernel's command line: %s", f->why, arg);
		found_why(f, "%s", why.s);
		sbuf_free(&why);
		break;
	}
}

/* One list for all findings of a report, since setcap forgets what was there before. */
void found_mend_caps(struct exam *x, struct doctor_finding *f)
{
	if (!x->user_ns)
		found_mend(f, "setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock%s+ep %s",
			   exam_wants_physical(x) ? ",cap_sys_rawio,cap_sys_admin" : "",
			   exam_word(x, x->self->path));
}

/* Characters that stand for themselves in a shell. */
static bool word_is_plain(const char *text)
{
	return text[0] != '\0' &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "_./:@%+-,=") == strlen(text);
}

/* Bytes that are not seen as they are: other than those of ASCII that print. */
static bool word_is_hidden(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			return true;
	return false;
}

const char *exam_word(struct exam *x, const char *text)
{
	struct sbuf *out = &x->word[x->nwords++ % WORDS];
	bool hidden = word_is_hidden(text);

	sbuf_reset(out);
	if (word_is_plain(text)) {
		sbuf_add(out, text);
		return out->s;
	}
	sbuf_add(out, hidden ? "$'" : "'");
	for (; *text != '\0'; text++)
		if (hidden && (*text < ' ' || *text > '~'))
			sbuf_addf(out, "\\%03o", (unsigned char)*text);
		else if (hidden && (*text == '\\' || *text == '\''))
			sbuf_addf(out, "\\%c", *text);
		else if (*text == '\'')
			sbuf_add(out, "'\\''");
		else
			sbuf_addc(out, *text);
	sbuf_addc(out, '\'');
	return out->s;
}

bool exam_group_is_none(struct exam *x, const char *group)
{
	char name[SYS_NAME];

	return sys_line(&x->sys, name, sizeof(name), "/sys/kernel/iommu_groups/%s/name", group) ==
		       SYS_READ &&
	       strcmp(name, "vfio-noiommu") == 0;
}

const char *nic_name(const struct nic *n)
{
	return n->pci[0] != '\0' && !n->for_kernel ? n->pci : n->ifname;
}

bool nic_wants_vfio(const struct nic *n)
{
	if (n->missing)
		return false;
	if (n->kind == DOCTOR_DRIVER_BOUND)
		return strcmp(n->driver, "vfio-pci") == 0;
	return n->for_dpdk && n->kind == DOCTOR_DRIVER_KERNEL;
}

bool exam_wants_vfio(const struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++)
		if (nic_wants_vfio(&x->nic[i]))
			return true;
	return false;
}

bool exam_wants_dpdk(const struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++)
		if (!x->nic[i].missing &&
		    (x->nic[i].for_dpdk || x->nic[i].kind == DOCTOR_DRIVER_BOUND))
			return true;
	return false;
}

bool exam_wants_physical(const struct exam *x)
{
	for (unsigned i = 0; i < x->nnics; i++) {
		const struct nic *n = &x->nic[i];
		bool bound = n->kind == DOCTOR_DRIVER_BOUND;
		if (!n->missing && bound && strcmp(n->driver, "vfio-pci") != 0)
			return true;
		if (nic_wants_vfio(n) && (n->group < 0 || n->noiommu))
			return true;
	}
	return false;
}

bool exam_flag(const struct exam *x, const char *flag)
{
	struct sbuf word = {0};

	sbuf_addf(&word, " %s ", flag);
	bool has = strstr(sbuf_str(&x->flags), word.s) != NULL;
	sbuf_free(&word);
	return has;
}

bool exam_cap(const struct exam *x, unsigned cap)
{
	return !x->user_ns && (x->self->caps >> cap & 1) != 0;
}

bool exam_cap_net(const struct exam *x, unsigned cap)
{
	bool counts = !x->user_ns || !x->self->net_foreign;

	return counts && (x->self->caps >> cap & 1) != 0;
}

bool exam_may_open(struct exam *x, const char *subject, const char *path)
{
	struct sbuf full = {0};

	sbuf_addf(&full, "%s%s", x->sys.path, path);
	bool may = x->self->may_use != NULL
			   ? x->self->may_use(path)
			   : faccessat(AT_FDCWD, full.s, R_OK | W_OK, AT_EACCESS) == 0;
	sbuf_free(&full);
	if (may)
		return true;
	struct doctor_finding *f = found(x, DOCTOR_ERROR, subject, "no right to open %s", path);
	found_why(f, "the device is opened through it, for reading and writing");
	found_mend(f, "chown %u %s", x->self->uid, exam_word(x, path));
	return false;
}

void exam_bytes(uint64_t bytes, struct sbuf *out)
{
	static const char *const units[] = {"KB", "MB", "GB", "TB"};
	double v = (double)bytes / 1024;
	unsigned i = 0;

	for (; v >= 1024 && i + 1 < ARRAY_SIZE(units); i++)
		v /= 1024;
	sbuf_addf(out, "%.4g %s", v, units[i]);
}

bool exam_kernel(const struct exam *x, unsigned major, unsigned minor)
{
	unsigned a = 0, b = 0;

	if (sscanf(x->self->kernel, "%u.%u", &a, &b) != 2)
		return false;
	return a > major || (a == major && b >= minor);
}

void exam_near(const struct exam *x, int node, struct cpus *out)
{
	*out = (struct cpus){0};
	for (int cpu = 0; node >= 0 && node < NODES_MAX && cpu < CPUS_MAX; cpu++)
		if (cpus_has(&x->node[node].cpus, cpu) && cpus_has(&x->may, cpu))
			cpus_put(out, cpu);
}

/* Puts the worst findings first. Among those of one severity the order stays. */
static void exam_sort(struct doctor_report *r)
{
	struct doctor_finding *sorted = xcalloc(r->n + 1, sizeof(*sorted));
	unsigned n = 0;

	for (int s = DOCTOR_ERROR; s >= DOCTOR_OK; s--)
		for (unsigned i = 0; i < r->n; i++)
			if (r->finding[i].severity == (enum doctor_severity)s)
				sorted[n++] = r->finding[i];
	free(r->finding);
	r->finding = sorted;
}

int doctor_examine(const struct doctor_ask *ask, struct doctor_report *out, struct err *e)
{
	static const struct check facts = {.id = "machine"};
	struct exam *x = xcalloc(1, sizeof(*x));

	*out = (struct doctor_report){0};
	*x = (struct exam){.self = ask->self, .report = out, .check = &facts};
	x->sys = (struct sysroot){.path = ask->root, .bad = exam_unreadable, .arg = x};
	exam_machine(x);
	int rc = exam_nics(x, ask, e);
	for (const struct check *const *c = checks; rc == 0 && *c != NULL; c++) {
		x->check = *c;
		x->check->run(x);
	}
	exam_sort(out);
	if (rc < 0)
		doctor_free(out);
	for (unsigned i = 0; i < WORDS; i++)
		sbuf_free(&x->word[i]);
	sbuf_free(&x->flags);
	free(x);
	return rc;
}

void doctor_free(struct doctor_report *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		free(r->finding[i].subject);
		free(r->finding[i].what);
		free(r->finding[i].why);
		free(r->finding[i].mend);
	}
	free(r->finding);
	*r = (struct doctor_report){0};
}

bool doctor_well(const struct doctor_report *r)
{
	return r->count[DOCTOR_WARNING] == 0 && r->count[DOCTOR_ERROR] == 0;
}
