/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and replaces whole text files, for `save`, `load` and others. *e names file and reason. */
#pragma once
#include "base.h"

#define FILE_TEXT_MAX (64u << 20) /* bytes; a file that is larger is no command file */

/* Reads a regular file into *out. Returns 0, or -EINVAL with *e when the file cannot be read, is no
 * text (has zero bytes) or is too large. */
int file_read_text(const char *path, struct sbuf *out, struct err *e);
/* The path of a file that the program keeps for this user from run to run:
 * $XDG_STATE_HOME/wirerate/NAME, or $HOME/.local/state/wirerate/NAME where that variable is no
 * absolute path. NULL when HOME is none either. The caller frees it. */
char *file_state_path(const char *name);
/* Makes every folder above path that is missing, with mode 0700, as the XDG base directory
 * specification asks. Returns 0 or -errno. path is changed meanwhile and restored. */
int file_make_parents(char *path);
/* Gives the file new contents. Whatever fails, the file holds either the old contents or the new
 * ones as a whole. A symbolic link stays a link, and permissions stay. Returns 0, or -EINVAL with
 * *e. */
int file_replace(const char *path, const char *text, size_t len, struct err *e);
/* Makes a new file with these contents, as a whole or not at all. A file or a link of that name is
 * an error, and stays as it is. Returns likewise. */
int file_create(const char *path, const char *text, size_t len, struct err *e);
/* Says whether file_create() could succeed now, and changes nothing. Returns likewise. */
int file_creatable(const char *path, struct err *e);
/* Says whether file_replace() could succeed now, and changes nothing. Returns likewise. */
int file_replaceable(const char *path, struct err *e);
