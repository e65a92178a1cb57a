/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests themes: colours and attributes to text and back, roles, files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/theme_file.h"
#include "ui/view.h"

static void color_is(const char *text, int32_t want, const char *printed)
{
	struct sbuf out = {0};
	int32_t got = -99, again = -99;
	struct err e;

	assert_int_equal(theme_color(text, &got, &e), 0);
	assert_int_equal(got, want);
	theme_color_print(got, &out);
	assert_string_equal(out.s, printed);
	assert_int_equal(theme_color(out.s, &again, &e), 0);
	assert_int_equal(again, want);
	sbuf_free(&out);
}

static void test_colors(void **state)
{
	static const char *const names[] = {"black", "red",     "green", "yellow",
					    "blue",  "magenta", "cyan",  "white"};

	(void)state;
	for (int i = 0; i < 8; i++) {
		char text[32], bright[32];
		color_is(names[i], i, names[i]);
		snprintf(text, sizeof(text), "%d", i);
		color_is(text, i, names[i]);
		snprintf(bright, sizeof(bright), "bright_%s", names[i]);
		color_is(bright, 8 + i, bright);
	}
	for (int i = 16; i < 256; i++) {
		char text[32];
		snprintf(text, sizeof(text), "%d", i);
		color_is(text, i, text);
	}
	color_is("default", THEME_TERM, "default");
	color_is("default_fg", THEME_TERM, "default");
	color_is("default_bg", THEME_TERM, "default");
	color_is("none", THEME_NONE, "none");
	color_is("grey", 8, "bright_black");
	color_is("gray", 8, "bright_black");
	color_is("mag", 5, "magenta");
	color_is("RED", 1, "red");
	color_is("#ff8700", 0xff8700 | THEME_RGB, "0xff8700");
	color_is("0xFF8700", 0xff8700 | THEME_RGB, "0xff8700");
	color_is("0x000000", THEME_RGB, "0x000000");
	color_is("0xffffff", 0xffffff | THEME_RGB, "0xffffff");
}

static void test_no_colors(void **state)
{
	static const char *const bad[] = {
		"",        "256",      "-1",    "+1",        " 1",
		"1 ",      "1x",       "#",     "#fff",      "#ff87000",
		"#ff870g", "0x",       "0xfff", "0x1000000", "0x ff870",
		"b",       "bright_",  "bl",    "reddish",   "99999999999999999999",
		"#+ff870", "0x-ff870",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int32_t out = -77;
		struct err e = {.text = ""};
		if (theme_color(bad[i], &out, &e) != -EINVAL || out != -77 || e.text[0] == '\0')
			fail_msg("\"%s\" is taken as %d", bad[i], (int)out);
	}
	struct err e;
	int32_t out;
	assert_int_equal(theme_color("yelow", &out, &e), -EINVAL);
	assert_non_null(strstr(e.text, "did you mean yellow?"));
}

static void attr_is(const char *text, uint32_t want, const char *printed)
{
	struct sbuf out = {0};
	uint32_t got = 99, again = 99;
	struct err e;

	assert_int_equal(theme_attr(text, &got, &e), 0);
	assert_int_equal(got, want);
	theme_attr_print(got, &out);
	assert_string_equal(out.s, printed);
	assert_int_equal(theme_attr(out.s, &again, &e), 0);
	assert_int_equal(again, want);
	sbuf_free(&out);
}

static void test_attrs(void **state)
{
	static const char *const bad[] = {
		"",     ",", "bold,",     ",bold", "bold,,blink", "off,bold", "bold,default",
		"bolt", "b", "bold blink"};

	(void)state;
	attr_is("off", 0, "off");
	attr_is("default", 0, "off");
	attr_is("bold", ATTR_BOLD, "bold");
	attr_is("bright", ATTR_BOLD, "bold");
	attr_is("underscore", ATTR_UNDERSCORE, "underscore");
	attr_is("underline", ATTR_UNDERSCORE, "underscore");
	attr_is("under", ATTR_UNDERSCORE, "underscore");
	attr_is("blink", ATTR_BLINK, "blink");
	attr_is("reverse", ATTR_REVERSE, "reverse");
	attr_is("concealed", ATTR_CONCEALED, "concealed");
	attr_is("dim", ATTR_DIM, "dim");
	attr_is("reverse,bold,bold", ATTR_BOLD | ATTR_REVERSE, "bold,reverse");
	for (uint32_t all = 1; all < 64; all++) {
		struct sbuf text = {0};
		uint32_t got = 0;
		theme_attr_print(all, &text);
		assert_int_equal(theme_attr(text.s, &got, NULL), 0);
		assert_int_equal(got, all);
		sbuf_free(&text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint32_t out = 77;
		struct err e = {.text = ""};
		if (theme_attr(bad[i], &out, &e) != -EINVAL || out != 77 || e.text[0] == '\0')
			fail_msg("\"%s\" is taken as %u", bad[i], (unsigned)out);
	}
}

static void test_roles(void **state)
{
	enum role role;
	struct err e;

	(void)state;
	assert_null(theme_role_name[ROLES]);
	for (int i = 0; i < ROLES; i++) {
		assert_int_equal(theme_role(theme_role_name[i], &role, &e), 0);
		assert_int_equal(role, i);
		assert_true(theme_role_help[i][0] != '\0');
	}
	assert_int_equal(theme_role("pkt", &role, &e), 0);
	assert_int_equal(role, ROLE_PROMPT);
	assert_int_equal(theme_role("top", &role, &e), -EINVAL);
	assert_int_equal(theme_role("", &role, &e), -EINVAL);
	assert_int_equal(theme_role("stats.port.lable", &role, &e), -EINVAL);
	assert_non_null(strstr(e.text, "did you mean stats.port.label?"));
}

/* Pktgen's roles come first: 34, in the order in which Pktgen lists them. */
static void test_pktgen_roles(void **state)
{
	static const char *const names[] = {
		"default",
		"top.spinner",
		"top.ports",
		"top.page",
		"top.copyright",
		"top.poweredby",
		"sep.dash",
		"sep.text",
		"stats.port.label",
		"stats.port.flags",
		"stats.port.data",
		"stats.port.status",
		"stats.port.linklbl",
		"stats.port.link",
		"stats.port.ratelbl",
		"stats.port.rate",
		"stats.port.sizelbl",
		"stats.port.sizes",
		"stats.port.errlbl",
		"stats.port.errors",
		"stats.port.totlbl",
		"stats.port.totals",
		"stats.dyn.label",
		"stats.dyn.values",
		"stats.stat.label",
		"stats.stat.values",
		"stats.total.label",
		"stats.total.data",
		"stats.colon",
		"stats.rate.count",
		"stats.bdf",
		"stats.mac",
		"stats.ip",
		"pktgen.prompt",
	};

	(void)state;
	assert_int_equal(ARRAY_SIZE(names), 34);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(theme_role_name[i], names[i]);
}

static char dir[] = "/tmp/theme_test.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A theme in which nothing is the default comes back from its own text. */
static void test_round_trip(void **state)
{
	struct theme t = {0}, back = {0};
	struct sbuf text = {0};
	struct err e;

	(void)state;
	for (int i = 0; i < ROLES; i++)
		t.style[i] = (struct theme_style){i % 3 == 0 ? (0x10203 * i) | THEME_RGB : i * 5,
						  i % 7 - 2, (uint32_t)i % 32};
	theme_text(&t, &text);
	write_file("all", text.s);
	assert_int_equal(theme_read(path_of("all"), &back, &e), 0);
	assert_false(back.on);
	assert_memory_equal(back.style, t.style, sizeof(t.style));
	assert_true(back.version > t.version);
	sbuf_free(&text);
}

static void test_read(void **state)
{
	struct theme t, before, base = {0};
	struct err e;

	(void)state;
	theme_default(&base);
	memset(&t, 0, sizeof(t));
	theme_default(&t);
	t.style[ROLE_IP].fg = 77;
	before = t;
	write_file("bad", "theme top.page red none off\n# x\ntheme top.page red none off off\n");
	assert_int_equal(theme_read(path_of("bad"), &t, &e), -EINVAL);
	assert_non_null(strstr(e.text, "bad:3: "));
	assert_memory_equal(&t, &before, sizeof(t));
	write_file(
		"good",
		"theme top.page 'red' none \"bold\" # words may be quoted\n\n  theme off; theme sep.dash \"#010203\"; cls\n");
	assert_int_equal(theme_read(path_of("good"), &t, &e), 0);
	assert_int_equal(t.style[ROLE_TOP_PAGE].fg, 1);
	assert_int_equal(t.style[ROLE_TOP_PAGE].attr, ATTR_BOLD);
	assert_int_equal(t.style[ROLE_SEP_DASH].fg, 0x010203 | THEME_RGB);
	assert_int_equal(t.style[ROLE_SEP_DASH].bg, THEME_NONE);
	assert_memory_equal(&t.style[ROLE_IP], &base.style[ROLE_IP], sizeof(base.style[ROLE_IP]));
	assert_false(t.on);
	assert_true(t.version > before.version);
	assert_int_equal(theme_read(path_of("missing"), &t, &e), -EINVAL);
	assert_int_equal(theme_read(dir, &t, &e), -EINVAL);
}

/* All themes that come with the program set every role. dark is the built-in one, mono has no
 * colour, and colourblind has no red and green. */
static void test_files(void **state)
{
	static const char *const names[] = {"dark", "light", "high-contrast", "colourblind",
					    "mono"};
	struct theme base = {0};

	(void)state;
	theme_default(&base);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct theme t = {0};
		struct sbuf path = {0}, line = {0};
		struct err e;
		sbuf_addf(&path, THEMES_SOURCE "/%s.theme", names[i]);
		if (theme_read(path.s, &t, &e) != 0)
			fail_msg("%s", e.text);
		FILE *f = fopen(path.s, "r");
		char text[8192];
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
		assert_true(t.on);
		for (int r = 0; r < ROLES; r++) {
			sbuf_reset(&line);
			theme_line(&t, (enum role)r, &line);
			sbuf_addc(&line, '\n');
			if (strstr(text, line.s) == NULL)
				fail_msg("%s says nothing of %s, or in other words: %s", names[i],
					 theme_role_name[r], line.s);
			bool red = t.style[r].fg % 8 == 1 || t.style[r].bg % 8 == 1,
			     green = t.style[r].fg % 8 == 2 || t.style[r].bg % 8 == 2;
			if (strcmp(names[i], "colourblind") == 0 && t.style[r].fg < 16 &&
			    t.style[r].bg < 16)
				assert_false(red || green);
			if (strcmp(names[i], "mono") == 0)
				assert_true(t.style[r].fg < 0 && t.style[r].bg < 0);
		}
		assert_true(strcmp(names[i], "dark") != 0 ||
			    memcmp(t.style, base.style, sizeof(base.style)) == 0);
		sbuf_free(&path);
		sbuf_free(&line);
	}
}

/* The user's own files come before those of the program. */
static void test_find(void **state)
{
	struct sbuf path = {0};
	struct err e;
	unsigned n;

	(void)state;
	setenv("XDG_CONFIG_HOME", dir, 1);
	assert_false(theme_own(&path));
	assert_int_equal(theme_find("own", &path, &e), -EINVAL);
	assert_int_equal(mkdir(path_of("wirerate"), 0700), 0);
	assert_int_equal(mkdir(path_of("wirerate/themes"), 0700), 0);
	write_file("wirerate/themes/own.theme", "theme on\n");
	write_file("wirerate/themes/default.theme", "theme on\n");
	write_file("wirerate/themes/.hidden.theme", "theme on\n");
	write_file("wirerate/themes/other", "theme on\n");
	assert_int_equal(theme_find("own", &path, &e), 0);
	assert_string_equal(path.s, path_of("wirerate/themes/own.theme"));
	assert_int_equal(theme_find("own.theme", &path, &e), 0);
	assert_string_equal(path.s, path_of("wirerate/themes/own.theme"));
	assert_true(theme_own(&path));
	assert_string_equal(path.s, path_of("wirerate/themes/default.theme"));
	assert_int_equal(theme_find("ownn", &path, &e), -EINVAL);
	assert_non_null(strstr(e.text, "did you mean own?"));
	assert_int_equal(theme_find("./own", &path, &e), 0);
	assert_string_equal(path.s, "./own");
	char **names = theme_names(&n);
	bool own = false, sorted = true;
	for (unsigned i = 0; i < n; i++) {
		own |= strcmp(names[i], "own") == 0;
		sorted &= i == 0 || strcmp(names[i - 1], names[i]) < 0;
		assert_string_not_equal(names[i], ".hidden");
		assert_string_not_equal(names[i], "other");
	}
	assert_true(own && sorted);
	theme_names_free(names, n);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("HOME", "/nowhere", 1);
	assert_false(theme_own(&path));
	assert_int_equal(theme_find("own", &path, &e), -EINVAL);
	sbuf_free(&path);
}

static void test_view(void **state)
{
	struct view v, before;

	(void)state;
	view_init(&v);
	assert_ptr_equal(v.page, pages[0]);
	assert_true(v.screen && !v.frozen && v.theme.on);
	assert_int_equal(view_group(&v), VIEW_GROUP);
	v.room = 7;
	assert_int_equal(view_group(&v), 7);
	v.max_ports = 2;
	assert_int_equal(view_group(&v), 2);
	before = v;
	v.port = 3;
	v.frozen = true;
	v.theme.style[ROLE_IP].fg = 9;
	v.theme.version += 5;
	v.version += 4;
	v.repaint += 2;
	v.rows = 24;
	struct view changed = v;
	view_restore(&v, &before);
	assert_int_equal(v.port, before.port);
	assert_false(v.frozen);
	assert_int_equal(v.theme.style[ROLE_IP].fg, before.theme.style[ROLE_IP].fg);
	assert_true(v.theme.version > changed.theme.version);
	assert_true(v.version > changed.version);
	assert_int_equal(v.repaint, changed.repaint);
	assert_int_equal(v.rows, 24);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
	static const char *const made[] = {
		"wirerate/themes/own.theme",
		"wirerate/themes/default.theme",
		"wirerate/themes/.hidden.theme",
		"wirerate/themes/other",
		"wirerate/themes",
		"wirerate",
		"all",
		"bad",
		"good",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		remove(path_of(made[i]));
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_colors),       cmocka_unit_test(test_no_colors),
		cmocka_unit_test(test_attrs),        cmocka_unit_test(test_roles),
		cmocka_unit_test(test_pktgen_roles), cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_read),         cmocka_unit_test(test_files),
		cmocka_unit_test(test_find),         cmocka_unit_test(test_view),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
