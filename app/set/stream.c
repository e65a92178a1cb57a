/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a stream: struct stream_cfg, without its header fields. */
#include "rows.h"

#include <errno.h>
#include <string.h>

static int frame_vparse(const struct vspec *v, const char *text, void *out, struct err *e)
{
	struct frame_stack stack;
	int rc;

	(void)v;
	memset(&stack, 0, sizeof(stack)); /* unused slots too: values are compared as bytes */
	rc = frame_stack_parse(text, &stack, e);
	if (rc == 0)
		memcpy(out, &stack, sizeof(stack));
	return rc;
}

static void frame_vprint(const struct vspec *v, const void *val, struct sbuf *out)
{
	(void)v;
	frame_stack_print(val, out);
}

static void frame_vcomplete(const struct vspec *v, const char *prefix, void (*offer)(void *arg, const char *word), void *arg)
{
	(void)v;
	frame_stack_complete(prefix, offer, arg);
}

static const struct vtype vt_frame = {
	.name = "frame", .syntax = "eth[/vlan]/ipv4/udp: header names, outermost first", .size = sizeof(struct frame_stack),
	.parse = frame_vparse, .print = frame_vprint, .complete = frame_vcomplete,
};

/* The text that the user pattern repeats. */

#define USER_MAX sizeof(((struct frame_spec *)0)->user)

static int user_vparse(const struct vspec *v, const char *text, void *out, struct err *e)
{
	size_t n = strlen(text);

	(void)v;
	if (n < 1 || n >= USER_MAX)
		return err_at(e, ERANGE, 0, "the pattern has %zu bytes; allowed are 1 to %zu", n, USER_MAX - 1);
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
	.name = "text", .syntax = "1 to 63 bytes of text", .size = USER_MAX, .parse = user_vparse, .print = user_vprint,
};

static const char *const fill_words[] = {
	[FILL_ABC] = "abc", [FILL_ZERO] = "zero", [FILL_NONE] = "none", [FILL_USER] = "user", NULL,
};

#define AT(member) offsetof(struct stream_cfg, member)

const struct setting set_stream_rows[] = {
	{.name = "frame", .scope = SCOPE_STREAM, .v = {&vt_frame}, .dflt = "eth/ipv4/tcp", .offset = AT(frame.stack),
	 .check = set_check_stream, .help = "headers of the frame, outermost first"},
	{.name = "size", .scope = SCOPE_STREAM, .v = {&vt_size}, .dflt = "auto", .unit = "bytes", .offset = AT(frame.size),
	 .check = set_check_stream, .help = "frame size with FCS; auto is 64 or the headers' own length, whichever is larger"},
	{.name = "pattern", .scope = SCOPE_STREAM, .v = {&vt_enum, .choices = fill_words}, .dflt = "abc", .offset = AT(frame.fill),
	 .help = "what fills the payload"},
	{.name = "userpattern", .alias = "user pattern", .scope = SCOPE_STREAM, .v = {&vt_user}, .dflt = "0123456789abcde",
	 .offset = AT(frame.user), .help = "text that `pattern user` repeats"},
};
const unsigned set_nstream_rows = ARRAY_SIZE(set_stream_rows);
