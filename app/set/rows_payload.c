/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of what is in a frame beside header fields: payload pattern, its bytes, random bits. */
#include "rows.h"
#include "userfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fill_words[] = {
	[FILL_ABC] = "abc",   [FILL_ZERO] = "zero", [FILL_NONE] = "none",
	[FILL_USER] = "user", [FILL_INC] = "inc",   [FILL_RANDOM] = "random",
	[FILL_HEX] = "hex",   [FILL_FILE] = "file", NULL,
};

/* The type of userpattern: a text that the payload repeats. */

#define USER_MAX sizeof(((struct frame_spec *)0)->user)

static int user_vparse(const struct vspec *v, const char *text, void *out, struct err *e)
{
	size_t n = strlen(text);

	(void)v;
	if (n < 1 || n >= USER_MAX)
		return err_at(e, ERANGE, 0, "the pattern has %zu bytes; allowed are 1 to %zu", n,
			      USER_MAX - 1);
	memset(out, 0, USER_MAX);
	memcpy(out, text, n);
	return 0;
}

static void user_vprint(const struct vspec *v, const void *val, struct sbuf *out)
{
	(void)v;
	sbuf_add(out, val);
}

static const struct vtype vt_user = {
	.name = "text",
	.syntax = "1 to 63 bytes of text",
	.size = USER_MAX,
	.parse = user_vparse,
	.print = user_vprint,
};

/* The type of pattern.file: the name of a file and its bytes, which are read when the value is
 * parsed. */

struct file_val {
	char name[VT_TEXT_MAX]; /* "": none */
	_Alignas(struct hexbytes) uint8_t bytes[HEXBYTES_SIZE];
};

static struct hexbytes *file_bytes(struct file_val *v)
{
	return (struct hexbytes *)(void *)v->bytes;
}

static int file_read(const char *name, struct hexbytes *out, struct err *e)
{
	struct sbuf bytes = {0};
	int rc = userfile_read(name,
			       &(struct userfile_kind){.most_bytes = HEXBYTES_MAX,
						       .guess = "a payload repeats no more"},
			       &bytes, e);

	rc = rc == -EFBIG ? -ERANGE : rc;
	if (rc == 0 && bytes.len == 0)
		rc = err_set(e, EINVAL,
			     "'%.400s' is empty; the payload needs at least one byte to repeat",
			     name);
	if (rc == 0) {
		memcpy(out->b, bytes.s, bytes.len);
		out->n = (uint16_t)bytes.len;
	} else if (e != NULL) {
		e->col = 0;
	}
	sbuf_free(&bytes);
	return rc;
}

static int file_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct file_val *v = xcalloc(1, sizeof(*v));
	int rc = 0;

	if (strlen(text) >= sizeof(v->name) || text[0] == '\0')
		rc = vspec_fail(s, EINVAL, 0, e, text,
				text[0] == '\0' ? "is empty" : "is too long");
	else if (strcmp(text, "none") != 0) {
		strcpy(v->name, text);
		rc = file_read(text, file_bytes(v), e);
	}
	if (rc == 0)
		memcpy(out, v, sizeof(*v));
	free(v);
	return rc;
}

static void file_vprint(const struct vspec *s, const void *val, struct sbuf *out)
{
	const struct file_val *v = val;

	(void)s;
	sbuf_add(out, v->name[0] != '\0' ? v->name : "none");
}

static const struct vtype vt_file = {
	.name = "file",
	.syntax = "the name of a file of 1 to 2046 bytes, or none",
	.size = sizeof(struct file_val),
	.parse = file_vparse,
	.print = file_vprint,
};

/* pattern.hex and pattern.file keep their bytes in the same place. The name of the file says which
 * of the two is set; "": pattern.hex, or neither. */
static void data_put(struct stream_cfg *c, const struct hexbytes *bytes, const char *name)
{
	free(c->frame.data);
	c->frame.data = bytes != NULL && bytes->n != 0 ? hexbytes_copy(bytes) : NULL;
	memset(c->fill_file, 0, sizeof(c->fill_file));
	strcpy(c->fill_file, name);
}

static void hex_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	(void)row;
	data_put(obj->cfg, val, "");
}

static bool hex_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct stream_cfg *c = obj->cfg;
	struct hexbytes *out = val;

	(void)row;
	out->n = 0;
	if (c->frame.data == NULL || c->fill_file[0] != '\0')
		return false;
	memcpy(out, c->frame.data, sizeof(*out) + c->frame.data->n);
	return true;
}

static void hex_unset(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	if (((struct stream_cfg *)obj->cfg)->fill_file[0] == '\0')
		data_put(obj->cfg, NULL, "");
}

static void file_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	const struct file_val *v = val;

	(void)row;
	if (v->name[0] != '\0' || ((struct stream_cfg *)obj->cfg)->fill_file[0] != '\0')
		data_put(obj->cfg, (const struct hexbytes *)(const void *)v->bytes, v->name);
}

static bool file_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct stream_cfg *c = obj->cfg;
	struct file_val *out = val;

	(void)row;
	memset(out, 0, sizeof(*out));
	memcpy(out->name, c->fill_file, sizeof(out->name));
	if (out->name[0] == '\0' || c->frame.data == NULL)
		return false;
	memcpy(out->bytes, c->frame.data, sizeof(struct hexbytes) + c->frame.data->n);
	return true;
}

static void file_unset(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	if (((struct stream_cfg *)obj->cfg)->fill_file[0] != '\0')
		data_put(obj->cfg, NULL, "");
}

static const struct setting_store hex_store = {hex_put, hex_get, hex_unset};
static const struct setting_store file_store = {file_put, file_get, file_unset};

/* `pattern hex` or `file` before its bytes is half of what is being said, and a start refuses it. A
 * port that sends goes on with the frames that it had, which has to be told. */
static bool pattern_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct stream_cfg *c = obj->cfg;
	const struct ctl *ctl = set_ctl(obj);
	bool bytes = c->frame.fill == FILL_HEX || c->frame.fill == FILL_FILE;

	if (bytes && c->frame.data == NULL && (ctl == NULL || !ctl_sending(ctl, obj->port)))
		return true;
	return set_check_stream(row, obj, warn);
}

static bool data_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct stream_cfg *c = obj->cfg;
	const char *kind = row->store == &hex_store ? "hex" : "file";

	if (c->frame.data == NULL || c->frame.fill == FILL_HEX || c->frame.fill == FILL_FILE)
		return set_check_stream(row, obj, warn);
	err_set(warn, EINVAL,
		"the payload pattern is %s; `set <ports> pattern %s` sends these bytes",
		fill_words[c->frame.fill], kind);
	return false;
}

/* The type of rnd.N: "OFFSET MASK", where the mask has a character for each bit. */

#define RND_MAX_BITS 32

static int rnd_fail(const struct vspec *s, size_t col, struct err *e, const char *text,
		    const char *why)
{
	return vspec_fail(s, EINVAL, (int)col, e, text, "%s", why);
}

static int rnd_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct frame_rnd r = {.on = true};
	size_t digits = strspn(text, "0123456789"), at = digits + strspn(text + digits, " \t");
	unsigned long off = digits > 0 && digits < 6 ? strtoul(text, NULL, 10) : FRAME_MAX_LEN;

	if (strcmp(text, "off") == 0) {
		memset(out, 0, sizeof(r));
		return 0;
	}
	if (digits == 0)
		return rnd_fail(s, 0, e, text, "does not begin with the offset of a byte");
	if (off >= FRAME_MAX_LEN)
		return vspec_fail(s, ERANGE, 0, e, text, "has an offset beyond any frame");
	if (at == digits || text[at] == '\0')
		return rnd_fail(s, at, e, text, "has no mask after the offset");
	for (size_t i = at; text[i] != '\0'; i++, r.nbits++) {
		uint32_t bit = r.nbits < RND_MAX_BITS ? 1u << (RND_MAX_BITS - 1 - r.nbits) : 0;
		if (bit == 0)
			return vspec_fail(s, ERANGE, (int)i, e, text,
					  "has a mask of more than %d bits", RND_MAX_BITS);
		if (text[i] == '0')
			r.zero |= bit;
		else if (text[i] == '1')
			r.one |= bit;
		else if (text[i] == 'X' || text[i] == 'x')
			r.rnd |= bit;
		else if (text[i] != '.')
			return rnd_fail(s, i, e, text,
					"has a bit in its mask that is none of 0 1 . X");
	}
	r.off = (uint16_t)off;
	memcpy(out, &r, sizeof(r));
	return 0;
}

static void rnd_vprint(const struct vspec *s, const void *val, struct sbuf *out)
{
	const struct frame_rnd *r = val;

	(void)s;
	if (!r->on) {
		sbuf_add(out, "off");
		return;
	}
	sbuf_addf(out, "%u ", r->off);
	for (unsigned i = 0; i < r->nbits; i++) {
		uint32_t bit = 1u << (RND_MAX_BITS - 1 - i);
		sbuf_addc(out, r->zero & bit ? '0' : r->one & bit ? '1' : r->rnd & bit ? 'X' : '.');
	}
}

static void rnd_vcomplete(const struct vspec *s, const char *prefix,
			  void (*offer)(void *arg, const char *word), void *arg)
{
	(void)s;
	if (strncmp("off", prefix, strlen(prefix)) == 0)
		offer(arg, "off");
}

static const struct vtype vt_rnd = {
	.name = "bits",
	.syntax =
		"off | OFFSET MASK: a byte of the frame, then 1 to 32 bits: 0, 1, . as it is, X random",
	.size = sizeof(struct frame_rnd),
	.parse = rnd_vparse,
	.print = rnd_vprint,
	.complete = rnd_vcomplete,
};

static bool rnd_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct frame_rnd *r = (const void *)((const char *)obj->cfg + row->offset);

	if (!r->on)
		return true;
	if (((const struct stream_cfg *)obj->cfg)->frame.rnd_on)
		return set_check_stream(row, obj, warn);
	err_set(warn, EINVAL, "'%s' waits until `set <ports> random on`", row->name);
	return false;
}

#define AT(member) offsetof(struct stream_cfg, member)

const struct setting *set_rnd_table(unsigned *n)
{
	static struct setting *rows;

	for (unsigned i = 0; rows == NULL || i < FRAME_MAX_RND; i++) {
		struct sbuf name = {0};
		if (rows == NULL)
			rows = xcalloc(FRAME_MAX_RND, sizeof(*rows));
		if (rows[i].name != NULL)
			break;
		sbuf_addf(&name, "rnd.%u", i);
		rows[i] = (struct setting){
			.name = name.s,
			.scope = &scope_stream,
			.v = {&vt_rnd},
			.dflt = "off",
			.check = rnd_check,
			.offset = (uint32_t)(AT(frame.rnd) + i * sizeof(struct frame_rnd)),
			.help = "bits at any place of the frame that are set, cleared or random in each, with `random on`"};
	}
	*n = FRAME_MAX_RND;
	return rows;
}

void set_rnd_rows(const struct setting ***rows, unsigned *n)
{
	unsigned nrnd;
	const struct setting *rnd = set_rnd_table(&nrnd);

	for (unsigned i = 0; i < nrnd; i++)
		set_add_row(rows, n, &rnd[i]);
}

bool set_payload_idle(const struct setting *row, const struct set_obj *obj)
{
	const struct stream_cfg *c = obj->cfg;

	if (row->v.type == &vt_rnd)
		return !((const struct frame_rnd *)(const void *)((const char *)obj->cfg +
								  row->offset))
				->on;
	if (row->store == &hex_store || row->store == &file_store)
		return c->frame.data == NULL ||
		       (c->fill_file[0] != '\0') != (row->store == &file_store);
	return row->scope == &scope_stream && row->offset == AT(frame.fill_seed) &&
	       row->store == NULL && c->frame.fill != FILL_RANDOM && c->frame.fill_seed == 0;
}

const struct setting set_payload_rows[] = {
	{.name = "pattern",
	 .scope = &scope_stream,
	 .v = {&vt_enum, .choices = fill_words},
	 .dflt = "abc",
	 .offset = AT(frame.fill),
	 .check = pattern_check,
	 .help = "what fills the payload; user repeats userpattern, hex and file the bytes of pattern.hex and pattern.file"},
	{.name = "userpattern",
	 .alias = "user pattern",
	 .scope = &scope_stream,
	 .v = {&vt_user},
	 .dflt = STREAM_DFLT_USER,
	 .offset = AT(frame.user),
	 .help = "text that `pattern user` repeats"},
	{.name = "pattern.seed",
	 .scope = &scope_stream,
	 .v = {&vt_uint},
	 .dflt = "0",
	 .offset = AT(frame.fill_seed),
	 .help = "seed of `pattern random`: equal seeds give equal payloads"},
	{.name = "pattern.hex",
	 .scope = &scope_stream,
	 .v = {&vt_hex},
	 .store = &hex_store,
	 .check = data_check,
	 .help = "bytes that `pattern hex` repeats to the end of the frame"},
	{.name = "pattern.file",
	 .scope = &scope_stream,
	 .v = {&vt_file},
	 .store = &file_store,
	 .check = data_check,
	 .flags = SET_FILE,
	 .help = "file whose bytes `pattern file` repeats to the end of the frame; it is read when it is set"},
	{.name = "random",
	 .scope = &scope_stream,
	 .v = {&vt_bool},
	 .dflt = "off",
	 .offset = AT(frame.rnd_on),
	 .check = set_check_stream,
	 .help = "whether the bits of rnd.0 to rnd.31 are written into each frame"},
	{0},
};
