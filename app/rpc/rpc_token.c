/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc_token.h"
#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM_BYTES 32

static int token_cannot(struct err *e, const char *what, const char *path, int code)
{
	return err_set(e, code, "cannot %s the token file '%.400s': %s", what, path,
		       strerror(code));
}

/* Makes a file with a random token, which from its first moment only this user may read. It gets
 * its name when it is complete, and only if no other program was faster: programs that start at the
 * same time have the same token. */
static int make_file(const char *path, struct err *e)
{
	uint8_t bytes[RANDOM_BYTES];
	char text[2 * RANDOM_BYTES + 2];
	struct sbuf tmp = {0};
	int rc = 0;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return token_cannot(e, "make", path, errno);
	for (unsigned i = 0; i < RANDOM_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	memcpy(text + 2 * RANDOM_BYTES, "\n", 2);
	sbuf_addf(&tmp, "%s.%ld", path, (long)getpid());
	const char *why;
	int fd = userfile_open(tmp.s, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, &why);
	if (fd < 0) {
		rc = err_set(e, -fd, "cannot make the token file '%.400s': %s", path, why);
	} else {
		if (write(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1 ||
		    (link(tmp.s, path) != 0 && errno != EEXIST))
			rc = token_cannot(e, "make", path, errno);
		close(fd);
		unlink(tmp.s);
	}
	sbuf_free(&tmp);
	return rc;
}

/* Refuses a file that others own, may read or may write. Whoever reads it can get in, and whoever
 * writes it can let others in. */
static int check_file(const char *path, const struct stat *st, struct err *e)
{
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return err_set(e, EINVAL, "the token file '%.400s' belongs to another user (%u)",
			       path, (unsigned)st->st_uid);
	if (st->st_mode & 077)
		return err_set(
			e, EINVAL,
			"others may use the token file '%.400s' (mode %03o); chmod 600 it, and better put a new token into it",
			path, (unsigned)st->st_mode & 0777);
	return 0;
}

static int take_text(const char *path, char *text, size_t len, struct token *out, struct err *e)
{
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return err_set(
				e, EINVAL,
				"the token file '%.400s' holds more than one line of printable characters without blanks",
				path);
	if (len < TOKEN_MIN || len > TOKEN_MAX)
		return err_set(e, EINVAL,
			       "the token in '%.400s' has %zu characters; it has %u to %u", path,
			       len, TOKEN_MIN, TOKEN_MAX);
	*out = (struct token){.len = len};
	memcpy(out->text, text, len);
	return 0;
}

int token_read(const char *path, bool make, struct token *out, struct err *e)
{
	char text[TOKEN_MAX + 4];
	const char *why;
	struct stat st;
	int fd = userfile_open(path, O_RDONLY | O_NOFOLLOW, 0, &why), rc;

	if (fd == -ENOENT && make) {
		rc = make_file(path, e);
		if (rc < 0)
			return rc;
		fd = userfile_open(path, O_RDONLY | O_NOFOLLOW, 0, &why);
	}
	if (fd < 0)
		return err_set(e, -fd, "cannot read the token file '%.400s': %s", path, why);
	ssize_t n = 0;
	rc = fstat(fd, &st) == 0 ? check_file(path, &st, e) : token_cannot(e, "read", path, errno);
	if (rc == 0) {
		n = read(fd, text, sizeof(text));
		rc = n >= 0 ? take_text(path, text, (size_t)n, out, e)
			    : token_cannot(e, "read", path, errno);
	}
	close(fd);
	explicit_bzero(text, sizeof(text));
	return rc;
}

bool token_is(const struct token *t, const char *given)
{
	char text[TOKEN_MAX + 1] = "";
	size_t len = strnlen(given, sizeof(text));
	volatile unsigned differ = len != t->len;

	memcpy(text, given, len < TOKEN_MAX ? len : TOKEN_MAX);
	for (size_t i = 0; i < sizeof(text); i++)
		differ = differ | (unsigned)(text[i] ^ t->text[i]);
	explicit_bzero(text, sizeof(text));
	return differ == 0;
}
