/* SPDX-License-Identifier: BSD-3-Clause */
/* Themes as files: a name is looked for where themes are kept, and a file holds the commands that make the theme. */
#pragma once
#include "theme.h"

/* The file that a name means: with a '/' or as it is found here, a path; else NAME.theme (or NAME, which may end so) in
 * $XDG_CONFIG_HOME/wirerate/themes, beside the program in a build tree, and where the installation has put them. */
int theme_find(const char *name, struct sbuf *path, struct err *e);
/* Take over the roles that the file sets; the others are the built-in ones. It holds `theme ROLE FG [BG [ATTR]]`, `theme on`, `theme off`,
 * `theme reset` and `cls` (or `redisplay`), nothing else. An error names file and line, and *t stays as it was. */
int theme_read(const char *path, struct theme *t, struct err *e);
/* The user's own theme, default.theme in $XDG_CONFIG_HOME/wirerate/themes: false when there is none. */
bool theme_own(struct sbuf *path);
/* The commands of a theme, in table order. */
void theme_text(const struct theme *t, struct sbuf *out);
/* Names of the themes that theme_find() knows, sorted, each once. Caller frees with theme_names_free(). */
char **theme_names(unsigned *n);
void theme_names_free(char **names, unsigned n);
