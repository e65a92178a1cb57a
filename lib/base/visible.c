/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes text visible that a terminal would obey. */
#include "visible.h"

#include <errno.h>

size_t visible_character(const char *text, size_t n, uint32_t *ch)
{
	const unsigned char *p = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = p[0] < 0x80             ? 1
		     : (p[0] & 0xe0) == 0xc0 ? 2
		     : (p[0] & 0xf0) == 0xe0 ? 3
		     : (p[0] & 0xf8) == 0xf0 ? 4
					     : 0;

	if (len == 0 || len > n)
		return 0;
	*ch = len == 1 ? p[0] : p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*ch = *ch << 6 | (p[i] & 0x3f);
	}
	return *ch < least[len] || *ch > 0x10ffff || (*ch >= 0xd800 && *ch < 0xe000) ? 0 : len;
}

/* True if a terminal obeys the character in place of showing it. */
static bool is_obeyed(uint32_t ch)
{
	if (ch < 0x20)
		return ch != '\n' && ch != '\t';
	/* text in another direction may be read as something else */
	return (ch >= 0x7f && ch < 0xa0) || ch == 0x61c || ch == 0x200e || ch == 0x200f ||
	       (ch >= 0x2028 && ch <= 0x202e) || (ch >= 0x2066 && ch <= 0x2069);
}

void visible_add(struct sbuf *out, const char *text, size_t n)
{
	size_t plain = 0; /* the text before it is in *out */

	for (size_t i = 0, len; i < n; i += len) {
		uint32_t ch = 0;
		len = visible_character(text + i, n - i, &ch);
		if (len > 0 && !is_obeyed(ch))
			continue;
		sbuf_addn(out, text + plain, i - plain);
		if (len > 0)
			sbuf_addf(out, "\\u%04x", (unsigned)ch);
		else
			sbuf_addf(out, "\\x%02x", (unsigned char)text[i]);
		len = len > 0 ? len : 1;
		plain = i + len;
	}
	sbuf_addn(out, text + plain, n - plain);
}

int visible_print(FILE *f, const char *fmt, ...)
{
	struct sbuf text = {0}, out = {0};
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	visible_add(&out, sbuf_str(&text), text.len);
	errno = 0;
	int rc = fputs(sbuf_str(&out), f) < 0 || fflush(f) != 0 ? (errno != 0 ? -errno : -EIO) : 0;
	sbuf_free(&out);
	sbuf_free(&text);
	return rc;
}
