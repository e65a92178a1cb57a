/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that were read and are held as long as somebody needs them. */
#include "filebytes.h"
#include "userfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct filebytes *all;
/* What was read last is held here: values of settings point to it and hold nothing themselves. */
static struct filebytes *newest;

struct filebytes *filebytes_hold(struct filebytes *f)
{
	if (f != NULL)
		f->refs++;
	return f;
}

void filebytes_drop(struct filebytes *f)
{
	struct filebytes **at = &all;

	if (f == NULL || --f->refs > 0)
		return;
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	free((void *)(uintptr_t)f->b);
	free(f->name);
	free(f);
}

unsigned filebytes_count(void)
{
	unsigned n = 0;

	for (const struct filebytes *f = all; f != NULL; f = f->next)
		n++;
	return n;
}

/* The one of that name with these bytes, which takes their memory. */
static struct filebytes *filebytes_of(const char *name, struct sbuf *bytes)
{
	uint64_t hash = fnv1a(fnv1a(FNV_BASIS, name, strlen(name) + 1), bytes->s, bytes->len);
	struct filebytes *f = all;

	while (f != NULL && (f->hash != hash || f->n != bytes->len || strcmp(f->name, name) != 0 ||
			     memcmp(f->b, bytes->s, f->n) != 0))
		f = f->next;
	if (f != NULL) {
		sbuf_free(bytes);
		return f;
	}
	f = xcalloc(1, sizeof(*f));
	/* it has grown in steps, and may be held for long */
	*f = (struct filebytes){.next = all,
				.hash = hash,
				.name = xstrdup(name),
				.b = xrealloc(bytes->s, bytes->len),
				.n = (uint32_t)bytes->len};
	*bytes = (struct sbuf){0};
	all = f;
	return f;
}

int filebytes_read(const char *name, size_t most, struct filebytes **out, struct err *e)
{
	struct sbuf bytes = {0};
	int rc = userfile_read(name, &(struct userfile_kind){.most_bytes = most}, &bytes, e);

	if (rc == 0 && bytes.len == 0)
		rc = err_set(e, EINVAL, "'%.400s' is empty; it must have 1 byte at least", name);
	if (rc != 0) {
		sbuf_free(&bytes);
		return rc == -EFBIG ? -EINVAL : rc;
	}
	struct filebytes *before = newest;
	*out = newest = filebytes_hold(filebytes_of(name, &bytes));
	filebytes_drop(before);
	return 0;
}
