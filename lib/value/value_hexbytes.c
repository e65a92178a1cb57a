/* SPDX-License-Identifier: BSD-3-Clause */
/* vt_hex: bytes that the user writes in hexadecimal. */
#include "value_impl.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static unsigned most_bytes(const struct vspec *s)
{
	return s->max != 0 && s->max < HEXBYTES_MAX ? (unsigned)s->max : HEXBYTES_MAX;
}

static bool hexbytes_separates(char c)
{
	return c == ' ' || c == '\t' || c == ':' || c == '-' || c == '.' || c == ',';
}

static unsigned digit_of(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

/* The text is runs of whole bytes with separators between the runs. A run may begin with 0x. */
static int hex_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct hexbytes *h = out;
	unsigned top = most_bytes(s), n = 0;
	uint8_t b[HEXBYTES_MAX];

	for (size_t i = strcmp(text, "none") == 0 ? 4 : 0; text[i] != '\0';) {
		bool run = i == 0 || hexbytes_separates(text[i - 1]);
		if (hexbytes_separates(text[i])) {
			if (i == 0 || text[i + 1] == '\0')
				return vspec_fail(s, EINVAL, (int)i, e, text,
						  "has a separator that separates nothing");
			i++;
		} else if (run && text[i] == '0' && (text[i + 1] == 'x' || text[i + 1] == 'X') &&
			   isxdigit((unsigned char)text[i + 2])) {
			i += 2;
		} else if (!isxdigit((unsigned char)text[i])) {
			return vspec_fail(s, EINVAL, (int)i, e, text,
					  "has something that is not a hexadecimal digit");
		} else if (!isxdigit((unsigned char)text[i + 1])) {
			return vspec_fail(s, EINVAL, (int)i, e, text,
					  "has half a byte; each byte has two digits");
		} else if (n == top) {
			return vspec_fail(s, ERANGE, (int)i, e, text, "has more than %u bytes",
					  top);
		} else {
			b[n++] = (uint8_t)(digit_of(text[i]) << 4 | digit_of(text[i + 1]));
			i += 2;
		}
	}
	if (n < s->min)
		return vspec_fail(s, n == 0 ? EINVAL : ERANGE, 0, e, text,
				  "has fewer than %u bytes", (unsigned)s->min);
	h->n = (uint16_t)n;
	memcpy(h->b, b, n);
	return 0;
}

static void hex_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct hexbytes *h = v;

	(void)s;
	if (h->n == 0)
		sbuf_add(out, "none");
	for (unsigned i = 0; i < h->n; i++)
		sbuf_addf(out, "%02x", h->b[i]);
}

static void hex_allowed(const struct vspec *s, struct sbuf *out)
{
	sbuf_addf(out, "%s, %u to %u bytes%s", s->type->syntax, (unsigned)s->min, most_bytes(s),
		  s->min == 0 ? ", or none" : "");
}

const struct vtype vt_hex = {
	.name = "bytes",
	.syntax = "bytes as pairs of hexadecimal digits: 0102aa, \"01 02 aa\", 01:02:aa",
	.size = HEXBYTES_SIZE,
	.parse = hex_parse,
	.print = hex_print,
	.allowed = hex_allowed};

struct hexbytes *hexbytes_copy(const struct hexbytes *from)
{
	if (from == NULL)
		return NULL;
	size_t size = sizeof(*from) + from->n;
	struct hexbytes *copy = xcalloc(1, size);
	memcpy(copy, from, size);
	return copy;
}
