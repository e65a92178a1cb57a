/* SPDX-License-Identifier: BSD-3-Clause */
#include "paint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>

#define DIRECT (1 << 24)

struct look {
	attr_t attr;
	int pair;
};

struct paint {
	int colors;       /* 0, 8, 16, 256 or DIRECT */
	int bits[3];      /* with DIRECT: how many bits red, green and blue have */
	bool defaults;    /* the terminal's own colours can be asked for */
	bool set;         /* look[] is made */
	uint64_t version; /* of the theme that look[] is made from */
	struct look look[ROLES];
	int pair_fg[ROLES + 1], pair_bg[ROLES + 1]; /* colours of the pairs in use, from 1 on */
	int npairs;
};

/* The first 16 colours of a terminal when nobody has changed them, 0xRRGGBB. These are xterm's. */
static const uint32_t basic[16] = {
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
};

/* Returns a colour of the palette as 0xRRGGBB. 16 to 231 are a cube with six levels for each of
 * red, green and blue, and 232 to 255 are greys. */
static uint32_t palette_rgb(int index)
{
	static const uint8_t level[6] = {0x00, 0x5f, 0x87, 0xaf, 0xd7, 0xff};

	if (index < 16)
		return basic[index];
	if (index >= 232)
		return 0x010101u * (uint32_t)(8 + 10 * (index - 232));
	index -= 16;
	return (uint32_t)level[index / 36] << 16 | (uint32_t)level[index / 6 % 6] << 8 |
	       level[index % 6];
}

/* Returns how much two colours differ. The eye sees green best and blue worst. */
static long paint_distance(uint32_t a, uint32_t b)
{
	long r = (long)(a >> 16 & 255) - (long)(b >> 16 & 255);
	long g = (long)(a >> 8 & 255) - (long)(b >> 8 & 255);
	long l = (long)(a & 255) - (long)(b & 255);

	return 3 * r * r + 6 * g * g + l * l;
}

/* Returns the colour of the palette in [first, end) that looks most like rgb. */
static int paint_nearest(uint32_t rgb, int first, int end)
{
	int best = first;

	for (int i = first + 1; i < end; i++)
		if (paint_distance(rgb, palette_rgb(i)) < paint_distance(rgb, palette_rgb(best)))
			best = i;
	return best;
}

static int paint_direct(const struct paint *p, uint32_t rgb)
{
	int value = 0,
	    channel[3] = {(int)(rgb >> 16 & 255), (int)(rgb >> 8 & 255), (int)(rgb & 255)};

	for (int i = 0; i < 3; i++)
		value = value << p->bits[i] | channel[i] * ((1 << p->bits[i]) - 1) / 255;
	/* Where colours are direct, the numbers below 8 still mean the palette. So a colour that is
	 * so dark becomes black. */
	return value < 8 ? 0 : value;
}

/* Returns true for a grey that is neither black nor white. The nearest of eight colours might be a
 * yellow, and what shall be quiet would shine. */
static bool is_grey(uint32_t rgb)
{
	int r = (int)(rgb >> 16), g = (int)(rgb >> 8 & 255), b = (int)(rgb & 255);

	return abs(r - g) < 8 && abs(g - b) < 8 && g >= 0x40 && g < 0xd0;
}

/* Returns the number that this terminal has for a colour of a theme. Every terminal with colours
 * has the first eight. */
static int color_number(const struct paint *p, int32_t color)
{
	if (!(color & THEME_RGB) && color < 8)
		return color;
	uint32_t rgb = color & THEME_RGB ? (uint32_t)color & 0xffffff : palette_rgb(color);
	if (p->colors == 8 && is_grey(rgb))
		return p->defaults ? -1 : COLOR_WHITE;
	if (p->colors == DIRECT)
		return paint_direct(p, rgb);
	if (!(color & THEME_RGB) && color < p->colors)
		return color;
	/* Of 256 colours, the first 16 may have been changed by the user. */
	return paint_nearest(rgb, p->colors == 256 ? 16 : 0, p->colors);
}

/* Returns the colour pair of two colours, which is made when it is first needed. Where a terminal
 * has fewer pairs than the theme wants, one with the same foreground is taken, else the terminal's
 * own. */
static int pair_of(struct paint *p, int fg, int bg)
{
	if (fg < 0 && bg < 0)
		return 0;
	for (int i = 1; i <= p->npairs; i++)
		if (p->pair_fg[i] == fg && p->pair_bg[i] == bg)
			return i;
	if (p->npairs + 1 < COLOR_PAIRS && init_extended_pair(p->npairs + 1, fg, bg) == OK) {
		p->npairs++;
		p->pair_fg[p->npairs] = fg;
		p->pair_bg[p->npairs] = bg;
		return p->npairs;
	}
	for (int i = 1; i <= p->npairs; i++)
		if (p->pair_fg[i] == fg)
			return i;
	return 0;
}

static attr_t attr_bits(uint32_t attr)
{
	return (attr & ATTR_BOLD ? A_BOLD : 0) | (attr & ATTR_UNDERSCORE ? A_UNDERLINE : 0) |
	       (attr & ATTR_BLINK ? A_BLINK : 0) | (attr & ATTR_REVERSE ? A_REVERSE : 0) |
	       (attr & ATTR_CONCEALED ? A_INVIS : 0) | (attr & ATTR_DIM ? A_DIM : 0);
}

/* Text in the colour of its background cannot be read, and one of Pktgen's themes has `theme
 * default white white off`. Such a style gets the terminal's own background. */
static struct theme_style paint_readable(struct theme_style s)
{
	if (s.fg >= 0 && s.fg == s.bg)
		s.bg = THEME_TERM;
	return s;
}

static void set_role(struct paint *p, const struct theme *t, enum role role)
{
	const struct theme_style base = paint_readable(t->style[ROLE_DEFAULT]),
				 *own = &t->style[role];
	struct theme_style s = {.fg = own->fg == THEME_NONE ? base.fg : own->fg,
				.bg = own->bg == THEME_NONE ? base.bg : own->bg};
	int32_t fg = s.fg, bg = paint_readable(s).bg;
	struct look *l = &p->look[role];

	*l = (struct look){.attr = attr_bits(own->attr)};
	if (p->colors == 0 || !t->on) {
		/* A role with its own background shall stand out: it is reversed. */
		int32_t ground = base.bg == THEME_NONE ? THEME_TERM : base.bg;
		if (bg != THEME_NONE && bg != THEME_TERM && bg != ground)
			l->attr ^= A_REVERSE;
		return;
	}
	if (p->colors == 8 && fg >= 9 && fg <= 15)
		l->attr |= A_BOLD;
	/* With eight colours a terminal shows a bold black as a grey, which cannot be read on a
	 * coloured background. */
	if (p->colors == 8 && fg == 0 && bg >= 0)
		l->attr &= ~A_BOLD;
	int own_fg = p->defaults ? -1 : COLOR_WHITE, own_bg = p->defaults ? -1 : COLOR_BLACK;
	l->pair = pair_of(p, fg < 0 ? own_fg : color_number(p, fg),
			  bg < 0 ? own_bg : color_number(p, bg));
}

/* Returns true when the terminal's description says that its colours are direct. bits[] gets how
 * many bits red, green and blue have. */
static bool direct_bits(int bits[3])
{
	const char *text = tigetstr((char *)"RGB");
	int num = tigetnum((char *)"RGB"), width = 0;

	if (COLORS < 4096)
		return false;
	for (int n = COLORS - 1; n > 0; n >>= 1)
		width++;
	if (text != NULL && text != (char *)-1 &&
	    sscanf(text, "%d/%d/%d", &bits[0], &bits[1], &bits[2]) == 3)
		return bits[0] > 0 && bits[0] <= 8 && bits[1] > 0 && bits[1] <= 8 && bits[2] > 0 &&
		       bits[2] <= 8;
	if (num > 0 && num <= 8) {
		bits[0] = bits[1] = bits[2] = num;
		return true;
	}
	if (tigetflag((char *)"RGB") != 1)
		return false;
	/* It is a mere flag. By user_caps(5) the bits are then divided by three, and green gets
	 * what red and blue leave. */
	bits[0] = bits[2] = (width + 2) / 3 < 8 ? (width + 2) / 3 : 8;
	bits[1] = width - 2 * bits[0];
	return bits[1] > 0 && bits[1] <= 8;
}

static bool wants_color(enum args_color color)
{
	const char *no = getenv("NO_COLOR"), *type = getenv("TERM");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	return (no == NULL || *no == '\0') && type != NULL && strcmp(type, "dumb") != 0;
}

struct paint *paint_open(enum args_color color)
{
	struct paint *p = xcalloc(1, sizeof(*p));

	if (!wants_color(color) || start_color() != OK || !has_colors() || COLORS < 8)
		return p;
	p->defaults = use_default_colors() == OK;
	if (direct_bits(p->bits))
		p->colors = DIRECT;
	else if (COLORS >= 256)
		p->colors = 256;
	else
		p->colors = COLORS >= 16 ? 16 : 8;
	return p;
}

void paint_free(struct paint *p)
{
	free(p);
}

bool paint_set(struct paint *p, const struct theme *t)
{
	if (p->set && p->version == t->version)
		return false;
	p->set = true;
	p->version = t->version;
	p->npairs = 0;
	for (int role = 0; role < ROLES; role++)
		set_role(p, t, (enum role)role);
	return true;
}

/* Returns the attributes of a role; *pair is its colour pair. */
static attr_t paint_attr(const struct paint *p, enum role role, int *pair)
{
	*pair = p->look[role].pair;
	return p->look[role].attr;
}

void paint_char(const struct paint *p, enum role role, const wchar_t *text, cchar_t *out)
{
	int pair;
	attr_t attr = paint_attr(p, role, &pair);

	/* There are no more pairs than roles, so a short can hold their numbers. */
	setcchar(out, text, attr, (short)pair, NULL);
}
