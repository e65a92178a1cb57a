/* SPDX-License-Identifier: BSD-3-Clause */
#include "theme_file.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "file.h"

#define SUFFIX ".theme"
#define MAX_DIRS 4

/* The folders of themes, in the order in which they are searched. Each ends with a '/'. */
struct dirs {
	struct sbuf dir[MAX_DIRS];
	unsigned n;
	bool own; /* the first one is the user's */
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Adds the user's folder. By the XDG Base Directory Specification a relative path is ignored. */
static void own_dir(struct dirs *d)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config != NULL && *config == '/')
		sbuf_addf(&d->dir[d->n], "%s/wirerate/themes/", config);
	else if (home != NULL && *home == '/')
		sbuf_addf(&d->dir[d->n], "%s/.config/wirerate/themes/", home);
	d->own = d->dir[d->n].len > 0;
	d->n += d->own;
}

static void dirs_open(struct dirs *d)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	*d = (struct dirs){0};
	own_dir(d);
	if (n > 0) {
		exe[n] = '\0';
		char *slash = strrchr(exe, '/');
		*slash = '\0';
		slash = strrchr(exe, '/');
		/* In a build tree the program is in app/. An installation may have been moved as a
		 * whole, so its folder is searched for relative to the program. */
		if (slash != NULL && strcmp(slash, "/app") == 0)
			sbuf_addf(&d->dir[d->n++], "%.*s/themes/", (int)(slash - exe), exe);
		else if (slash != NULL)
			sbuf_addf(&d->dir[d->n++], "%.*s/share/wirerate/themes/",
				  (int)(slash - exe), exe);
	}
	sbuf_add(&d->dir[d->n++], WR_THEMES "/");
}

static void dirs_close(struct dirs *d)
{
	for (unsigned i = 0; i < d->n; i++)
		sbuf_free(&d->dir[i]);
}

static bool find_in(const char *dir, const char *name, struct sbuf *path)
{
	sbuf_reset(path);
	sbuf_addf(path, "%s%s%s", dir, name, ends_with(name, SUFFIX) ? "" : SUFFIX);
	return access(path->s, R_OK) == 0;
}

static int theme_file_unknown(const char *name, struct err *e)
{
	struct sbuf known = {0};
	unsigned n;
	char **names = theme_names(&n);
	const char *near = str_nearest(name, (const char *const *)names, n);

	for (unsigned i = 0; i < n; i++)
		sbuf_addf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
	err_set(e, EINVAL,
		"there is no theme \"%.64s\"%s%s%s; themes are: %.500s; a file elsewhere is named with its path",
		name, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
		near != NULL ? "?" : "", sbuf_str(&known));
	theme_names_free(names, n);
	sbuf_free(&known);
	return -EINVAL;
}

int theme_find(const char *name, struct sbuf *path, struct err *e)
{
	struct dirs d;
	bool found = false;

	if (strchr(name, '/') == NULL && *name != '\0') {
		dirs_open(&d);
		for (unsigned i = 0; i < d.n && !found; i++)
			found = find_in(d.dir[i].s, name, path);
		dirs_close(&d);
	}
	if (found)
		return 0;
	if (strchr(name, '/') == NULL && (*name == '\0' || access(name, F_OK) != 0))
		return theme_file_unknown(name, e);
	sbuf_reset(path);
	sbuf_add(path, name);
	return 0;
}

bool theme_own(struct sbuf *path)
{
	struct dirs d = {0};

	own_dir(&d);
	/* A file that is there but cannot be read counts as found, so that reading it is an
	 * error. */
	sbuf_reset(path);
	if (d.own)
		sbuf_addf(path, "%sdefault" SUFFIX, d.dir[0].s);
	dirs_close(&d);
	return path->len > 0 && access(path->s, F_OK) == 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **theme_names(unsigned *n)
{
	struct dirs d;
	char **names = NULL;
	unsigned all = 0, kept = 0;

	dirs_open(&d);
	for (unsigned i = 0; i < d.n; i++) {
		DIR *dir = opendir(d.dir[i].s);
		struct dirent *f;
		while (dir != NULL && (f = readdir(dir)) != NULL) {
			if (f->d_name[0] == '.' || !ends_with(f->d_name, SUFFIX))
				continue;
			names = xrealloc(names, (all + 1) * sizeof(*names));
			names[all] = xstrdup(f->d_name);
			names[all++][strlen(f->d_name) - strlen(SUFFIX)] = '\0';
		}
		if (dir != NULL)
			closedir(dir);
	}
	dirs_close(&d);
	if (all > 0)
		qsort(names, all, sizeof(*names), by_name);
	for (unsigned i = 0; i < all; i++) {
		if (kept > 0 && strcmp(names[i], names[kept - 1]) == 0)
			free(names[i]);
		else
			names[kept++] = names[i];
	}
	*n = kept;
	return names;
}

void theme_names_free(char **names, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static int read_role(struct theme *t, const struct cmd_word *w, int n, struct err *e)
{
	struct theme_style s = {THEME_NONE, THEME_NONE, 0};
	enum role role;

	if (n == 2 && (strcmp(w[1].text, "on") == 0 || strcmp(w[1].text, "off") == 0)) {
		t->on = strcmp(w[1].text, "on") == 0;
		return 0;
	}
	if (n == 2 && strcmp(w[1].text, "reset") == 0) {
		theme_default(t);
		return 0;
	}
	if (n < 3 || n > 5)
		return err_set(e, EINVAL, "a theme's line is: theme ROLE FG [BG [ATTR]]");
	if (theme_role(w[1].text, &role, e) < 0 || theme_color(w[2].text, &s.fg, e) < 0 ||
	    (n > 3 && theme_color(w[3].text, &s.bg, e) < 0) ||
	    (n > 4 && theme_attr(w[4].text, &s.attr, e) < 0))
		return -EINVAL;
	t->style[role] = s;
	return 0;
}

static int read_line(struct theme *t, const char *line, struct err *e)
{
	struct cmd_word w[8];
	char *buf = xcalloc(1, 2 * strlen(line) + 64);
	int rc, n = cmd_split(line, w, ARRAY_SIZE(w), buf, 2 * strlen(line) + 64, e);

	if (n <= 0)
		rc = n;
	else if (strcmp(w[0].text, "theme") == 0)
		rc = read_role(t, w, n, e);
	else if (n == 1 && (strcmp(w[0].text, "cls") == 0 || strcmp(w[0].text, "redisplay") == 0))
		rc = 0;
	else
		rc = err_set(e, EINVAL, "\"%.40s\" is no command of a theme; allowed: theme, cls",
			     w[0].text);
	free(buf);
	return rc;
}

int theme_read(const char *path, struct theme *t, struct err *e)
{
	struct sbuf text = {0}, one = {0};
	struct theme made = {.version = t->version};
	unsigned long line = 0, at;
	int rc = file_read_text(path, &text, e);

	theme_default(&made);
	const char *rest = sbuf_str(&text);
	while (rc == 0 && cmd_next_command(&rest, &line, &one, &at)) {
		struct err why;
		rc = read_line(&made, one.s, &why);
		if (rc < 0)
			err_set(e, -rc, "%.300s:%lu: %.600s", path, at + 1, why.text);
	}
	sbuf_free(&one);
	sbuf_free(&text);
	if (rc == 0)
		*t = made;
	return rc;
}

void theme_text(const struct theme *t, struct sbuf *out)
{
	sbuf_add(out,
		 "# a theme for wirerate: options -T and -f, commands `theme load` and `load`\n");
	for (int i = 0; i < ROLES; i++) {
		theme_line(t, (enum role)i, out);
		sbuf_addc(out, '\n');
	}
	sbuf_addf(out, "theme %s\ncls\n", t->on ? "on" : "off");
}
