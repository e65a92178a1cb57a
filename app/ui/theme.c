/* SPDX-License-Identifier: BSD-3-Clause */
#include "theme.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const theme_role_name[ROLES + 1] = {
#define ROLE(id, name, help) name,
	THEME_ROLES(ROLE)
#undef ROLE
};

const char *const theme_role_help[ROLES] = {
#define ROLE(id, name, help) help,
	THEME_ROLES(ROLE)
#undef ROLE
};

struct word {
	const char *name;
	int32_t value;
};

/* Where several words have the same value, the first of them is printed. */
static const struct word colors[] = {
	{"black", 0},
	{"red", 1},
	{"green", 2},
	{"yellow", 3},
	{"blue", 4},
	{"magenta", 5},
	{"cyan", 6},
	{"white", 7},
	{"bright_black", 8},
	{"bright_red", 9},
	{"bright_green", 10},
	{"bright_yellow", 11},
	{"bright_blue", 12},
	{"bright_magenta", 13},
	{"bright_cyan", 14},
	{"bright_white", 15},
	{"gray", 8},
	{"grey", 8},
	{"default", THEME_TERM},
	{"default_fg", THEME_TERM},
	{"default_bg", THEME_TERM},
	{"none", THEME_NONE},
};
static const struct word attrs[] = {
	{"off", 0},
	{"default", 0},
	{"bold", ATTR_BOLD},
	{"dim", ATTR_DIM},
	{"underscore", ATTR_UNDERSCORE},
	{"blink", ATTR_BLINK},
	{"reverse", ATTR_REVERSE},
	{"concealed", ATTR_CONCEALED},
	{"bright", ATTR_BOLD},
	{"underline", ATTR_UNDERSCORE},
};

#define TERM THEME_TERM
#define NONE THEME_NONE
enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, GREY = 244 };

/* These are colours of the terminal's own palette, because its owner has chosen them to be
 * readable. Its grey often is not, so GREY is a fixed one. */
static const struct theme_style dark[ROLES] = {
	[ROLE_DEFAULT] = {TERM, TERM, 0},
	[ROLE_TOP_SPINNER] = {CYAN, NONE, ATTR_BOLD},
	[ROLE_TOP_PORTS] = {GREEN, NONE, ATTR_BOLD},
	[ROLE_TOP_PAGE] = {WHITE, BLUE, ATTR_BOLD},
	[ROLE_TOP_COPYRIGHT] = {YELLOW, NONE, 0},
	[ROLE_TOP_POWEREDBY] = {CYAN, NONE, 0},
	[ROLE_SEP_DASH] = {BLUE, NONE, 0},
	[ROLE_SEP_TEXT] = {CYAN, NONE, 0},
	[ROLE_PORT_LABEL] = {CYAN, NONE, ATTR_BOLD},
	[ROLE_PORT_FLAGS] = {GREEN, NONE, 0},
	[ROLE_PORT_DATA] = {NONE, NONE, 0},
	[ROLE_PORT_STATUS] = {YELLOW, NONE, ATTR_BOLD},
	[ROLE_PORT_LINKLBL] = {CYAN, NONE, 0},
	[ROLE_PORT_LINK] = {GREEN, NONE, ATTR_BOLD},
	[ROLE_PORT_RATELBL] = {CYAN, NONE, 0},
	[ROLE_PORT_RATE] = {NONE, NONE, ATTR_BOLD},
	[ROLE_PORT_SIZELBL] = {CYAN, NONE, 0},
	[ROLE_PORT_SIZES] = {NONE, NONE, 0},
	[ROLE_PORT_ERRLBL] = {CYAN, NONE, 0},
	[ROLE_PORT_ERRORS] = {YELLOW, NONE, 0},
	[ROLE_PORT_TOTLBL] = {CYAN, NONE, 0},
	[ROLE_PORT_TOTALS] = {GREEN, NONE, 0},
	[ROLE_DYN_LABEL] = {CYAN, NONE, 0},
	[ROLE_DYN_VALUES] = {YELLOW, NONE, 0},
	[ROLE_STAT_LABEL] = {CYAN, NONE, 0},
	[ROLE_STAT_VALUES] = {NONE, NONE, 0},
	[ROLE_TOTAL_LABEL] = {MAGENTA, NONE, ATTR_BOLD},
	[ROLE_TOTAL_DATA] = {NONE, NONE, ATTR_BOLD},
	[ROLE_COLON] = {BLUE, NONE, 0},
	[ROLE_RATE_COUNT] = {YELLOW, NONE, 0},
	[ROLE_BDF] = {NONE, NONE, 0},
	[ROLE_MAC] = {GREEN, NONE, 0},
	[ROLE_IP] = {MAGENTA, NONE, 0},
	[ROLE_PROMPT] = {GREEN, NONE, ATTR_BOLD},
	[ROLE_INPUT] = {NONE, NONE, 0},
	[ROLE_LOG_TEXT] = {NONE, NONE, 0},
	[ROLE_LOG_ERROR] = {RED, NONE, ATTR_BOLD},
	[ROLE_LOG_ECHO] = {NONE, NONE, ATTR_BOLD},
	[ROLE_ZERO] = {GREY, NONE, 0},
	[ROLE_BAR] = {GREEN, NONE, 0},
	[ROLE_BAR_EMPTY] = {BLUE, NONE, 0},
	[ROLE_WARN] = {BLACK, YELLOW, 0},
	[ROLE_GOOD] = {GREEN, NONE, 0},
	[ROLE_SELECTED] = {BLACK, CYAN, 0},
	[ROLE_VARIES] = {MAGENTA, NONE, ATTR_BOLD},
	[ROLE_KEY] = {BLACK, CYAN, 0},
	[ROLE_KEY_TEXT] = {NONE, NONE, 0},
};

#undef TERM
#undef NONE

void theme_default(struct theme *t)
{
	t->on = true;
	memcpy(t->style, dark, sizeof(dark));
	t->version++;
}

/* Finds the word that the text is or, if all words that begin with the text have the same value,
 * one of these. NULL: there is none. */
static const struct word *theme_look_up(const struct word *w, size_t n, const char *text,
					size_t len)
{
	const struct word *begins = NULL;
	bool several = false;

	for (size_t i = 0; i < n && len > 0; i++) {
		if (strncasecmp(w[i].name, text, len) != 0)
			continue;
		if (w[i].name[len] == '\0')
			return &w[i];
		several |= begins != NULL && begins->value != w[i].value;
		begins = &w[i];
	}
	return several ? NULL : begins;
}

static const char *theme_nearest(const struct word *w, size_t n, const char *text)
{
	const char *names[ARRAY_SIZE(colors) + ARRAY_SIZE(attrs)];

	for (size_t i = 0; i < n; i++)
		names[i] = w[i].name;
	return str_nearest(text, names, n);
}

int theme_role(const char *name, enum role *out, struct err *e)
{
	unsigned begin = 0;
	size_t len = strlen(name);

	for (int i = 0; i < ROLES && len > 0; i++) {
		if (strncasecmp(name, theme_role_name[i], len) != 0)
			continue;
		*out = (enum role)i;
		if (theme_role_name[i][len] == '\0')
			return 0;
		begin++;
	}
	if (begin == 1)
		return 0;
	if (begin > 1)
		return err_set(e, EINVAL, "\"%.64s\" begins %u roles; `theme show` lists them",
			       name, begin);
	const char *near = str_nearest(name, theme_role_name, ROLES);
	if (near != NULL)
		return err_set(e, EINVAL,
			       "no role \"%.64s\"; did you mean %s? `theme show` lists them", name,
			       near);
	return err_set(e, EINVAL, "no role \"%.64s\"; `theme show` lists them", name);
}

static bool theme_number(const char *text, unsigned long max, int base, unsigned long *out)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoul(text, &end, base);
	return errno == 0 && *end == '\0' && *out <= max;
}

int theme_color(const char *text, int32_t *out, struct err *e)
{
	const struct word *w = theme_look_up(colors, ARRAY_SIZE(colors), text, strlen(text));
	unsigned long n;

	if (w != NULL) {
		*out = w->value;
		return 0;
	}
	if (isdigit((unsigned char)*text) && theme_number(text, 255, 10, &n)) {
		*out = (int32_t)n;
		return 0;
	}
	const char *rgb = *text == '#' ? text + 1 : strncmp(text, "0x", 2) == 0 ? text + 2 : "";
	if (strlen(rgb) == 6 && theme_number(rgb, 0xffffff, 16, &n)) {
		*out = (int32_t)n | THEME_RGB;
		return 0;
	}
	const char *near = isalpha((unsigned char)*text)
				   ? theme_nearest(colors, ARRAY_SIZE(colors), text)
				   : NULL;
	return err_at(
		e, EINVAL, 0,
		"no colour \"%.64s\"%s%s%s; allowed: black, red, green, yellow, blue, magenta, cyan, white, bright_red ..., default "
		"(the terminal's own), none (that of the role \"default\"), 0 to 255, 0xrrggbb",
		text, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
		near != NULL ? "?" : "");
}

int theme_attr(const char *text, uint32_t *out, struct err *e)
{
	uint32_t attr = 0;
	bool plain = false;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		const struct word *w = theme_look_up(attrs, ARRAY_SIZE(attrs), p, n);
		if (w == NULL) {
			char one[32];
			memcpy(one, p, n < sizeof(one) ? n : sizeof(one) - 1);
			one[n < sizeof(one) ? n : sizeof(one) - 1] = '\0';
			const char *near = theme_nearest(attrs, ARRAY_SIZE(attrs), one);
			return err_at(e, EINVAL, (int)(p - text),
				      "no attribute \"%s\"%s%s%s; allowed: " THEME_ATTRS, one,
				      near != NULL ? "; did you mean " : "",
				      near != NULL ? near : "", near != NULL ? "?" : "");
		}
		attr |= (uint32_t)w->value;
		plain |= w->value == 0;
		p += n;
		if (*p == '\0')
			break;
	}
	if (plain && strchr(text, ',') != NULL)
		return err_at(e, EINVAL, 0, "\"%.64s\": off stands alone; leave it out of the list",
			      text);
	*out = attr;
	return 0;
}

void theme_color_print(int32_t color, struct sbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(colors); i++)
		if (colors[i].value == color) {
			sbuf_add(out, colors[i].name);
			return;
		}
	if (color & THEME_RGB)
		sbuf_addf(out, "0x%06x", (unsigned)color & 0xffffff);
	else
		sbuf_addf(out, "%d", (int)color);
}

const char *theme_attr_name(unsigned i)
{
	uint32_t had = 0;

	for (size_t k = 0; k < ARRAY_SIZE(attrs); k++) {
		/* "off" has no bits, so that one of its own stands for it here. */
		uint32_t value = attrs[k].value != 0 ? (uint32_t)attrs[k].value : UINT32_C(1) << 31;
		if ((had & value) != 0)
			continue;
		if (i-- == 0)
			return attrs[k].name;
		had |= value;
	}
	return NULL;
}

void theme_attr_print(uint32_t attr, struct sbuf *out)
{
	const char *sep = "";

	if (attr == 0) {
		sbuf_add(out, "off");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		if (attrs[i].value == 0 || !(attr & (uint32_t)attrs[i].value))
			continue;
		sbuf_addf(out, "%s%s", sep, attrs[i].name);
		attr &= ~(uint32_t)attrs[i].value;
		sep = ",";
	}
}

void theme_line(const struct theme *t, enum role role, struct sbuf *out)
{
	const struct theme_style *s = &t->style[role];

	sbuf_addf(out, "theme %s ", theme_role_name[role]);
	theme_color_print(s->fg, out);
	sbuf_addc(out, ' ');
	theme_color_print(s->bg, out);
	sbuf_addc(out, ' ');
	theme_attr_print(s->attr, out);
}
