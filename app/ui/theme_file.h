/* SPDX-License-Identifier: BSD-3-Clause */
/* A theme file holds the commands that make a theme. These functions find a file by the name of its
 * theme, read it and write it. Control thread. */
#pragma once
#include "theme.h"

/* Finds the file that a name means. A name with a '/' is a path. Any other is looked for as
 * NAME.theme (or NAME, which may end so) in the user's $XDG_CONFIG_HOME/wirerate/themes, beside the
 * program in a build tree, and where the installation has put themes; then it may be a file in the
 * current folder. 0 or -EINVAL. */
int theme_find(const char *name, struct sbuf *path, struct err *e);
/* Makes *t the theme of the file: the built-in one, with the roles that the file sets. The file may
 * hold `theme ROLE FG [BG [ATTR]]`, `theme on`, `theme off`, `theme reset`, and `cls` or
 * `redisplay`, which do nothing. Returns 0, or a negative errno: then e names file and line, and *t
 * stays as it was. */
int theme_read(const char *path, struct theme *t, struct err *e);
/* Writes the path of the user's own theme, default.theme in $XDG_CONFIG_HOME/wirerate/themes, to
 * *path. Returns false when there is no such file. */
bool theme_own(struct sbuf *path);
/* Appends the commands that make a theme, in the order of the roles. */
void theme_text(const struct theme *t, struct sbuf *out);
/* Returns the names that theme_find() knows, sorted, each once. theme_names_free() frees them. */
char **theme_names(unsigned *n);
void theme_names_free(char **names, unsigned n);
