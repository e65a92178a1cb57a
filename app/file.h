/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole text files, as `save` and `load` need them. Errors name the file and the reason. */
#pragma once
#include "base.h"

#define FILE_TEXT_MAX (64u << 20) /* bytes; more is no command file */

/* The text of a regular file into *out. -EINVAL: there is none, it is no text (zero bytes), it is too large. */
int file_read_text(const char *path, struct sbuf *out, struct err *e);
/* A file of the user's that the program keeps, $XDG_STATE_HOME/wirerate/NAME; NULL: there is no place for one. Caller frees. */
char *file_state_path(const char *name);
/* Every folder above path, 0700 as the XDG base directory specification asks. 0 or -errno. */
int file_make_parents(char *path);
/* Give the file new contents: it holds the old ones or the new ones, whatever fails. A link stays a link, permissions stay. */
int file_replace(const char *path, const char *text, size_t len, struct err *e);
/* Whether that could be done now; nothing is changed. */
int file_replaceable(const char *path, struct err *e);
