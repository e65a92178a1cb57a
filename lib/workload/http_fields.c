/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of heads that users write: whether they may stand there. */
#include <errno.h>
#include <string.h>
#include <strings.h>
#include "http_make.h"

#define TOKEN_MARKS "!#$%&'*+-.^_`|~"
#define HOST_MARKS "!$%&'()*+,-.:;=[]_~"

static bool fields_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

int http_wrong_target(const char *text)
{
	for (int i = 0; text[i] != '\0'; i++) {
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '#')
			return i;
	}
	return -1;
}

int http_wrong_host(const char *text)
{
	for (int i = 0; text[i] != '\0'; i++) {
		if (!fields_alnum(text[i]) && strchr(HOST_MARKS, text[i]) == NULL)
			return i;
	}
	return -1;
}

/* Fields that other settings make: two of them would contradict each other. */
static const struct {
	const char *name, *instead;
} fields_ours[] = {
	{"Content-Length", "request or response"},
	{"Transfer-Encoding", "http.chunked"},
	{"Connection", "close and transactions"},
	{"Host", "http.host"},
};

static int fields_one(const char *text, size_t at, size_t n, struct sbuf *out, struct err *e)
{
	const char *line = text + at;
	size_t name = 0, value;

	while (name < n && (fields_alnum(line[name]) || strchr(TOKEN_MARKS, line[name]) != NULL))
		name++;
	if (name == 0 || name == n || line[name] != ':')
		return err_at(e, EINVAL, (int)(at + name),
			      "http.header: \"%.*s\" is no field; write NAME: VALUE, and \\n "
			      "between two of them",
			      (int)n, line);
	for (unsigned i = 0; i < ARRAY_SIZE(fields_ours); i++) {
		if (name == strlen(fields_ours[i].name) &&
		    strncasecmp(line, fields_ours[i].name, name) == 0)
			return err_at(e, EINVAL, (int)at, "http.header: %s is made by %s",
				      fields_ours[i].name, fields_ours[i].instead);
	}
	for (value = name + 1; value < n; value++) {
		if (((unsigned char)line[value] < ' ' && line[value] != '\t') ||
		    line[value] == 0x7f)
			return err_at(e, EINVAL, (int)(at + value),
				      "http.header: a control character in the value of %.*s",
				      (int)name, line);
	}
	sbuf_addn(out, line, n);
	sbuf_add(out, "\r\n");
	return 0;
}

int http_fields(const char *text, struct sbuf *out, struct err *e)
{
	size_t at = 0, n, skip;
	int rc;

	while (text[at] != '\0') {
		const char *escaped = strstr(text + at, "\\n");

		n = strcspn(text + at, "\n");
		skip = text[at + n] != '\0';
		if (escaped != NULL && (size_t)(escaped - (text + at)) < n) {
			n = (size_t)(escaped - (text + at));
			skip = 2;
		}
		if (n > 0) {
			rc = fields_one(text, at, n, out, e);
			if (rc != 0)
				return rc;
		}
		at += n + skip;
	}
	return 0;
}

const char *http_reason(unsigned status)
{
	static const struct {
		unsigned status;
		const char *text;
	} known[] = {
		{200, "OK"},
		{201, "Created"},
		{202, "Accepted"},
		{204, "No Content"},
		{206, "Partial Content"},
		{301, "Moved Permanently"},
		{302, "Found"},
		{303, "See Other"},
		{304, "Not Modified"},
		{307, "Temporary Redirect"},
		{308, "Permanent Redirect"},
		{400, "Bad Request"},
		{401, "Unauthorized"},
		{403, "Forbidden"},
		{404, "Not Found"},
		{405, "Method Not Allowed"},
		{408, "Request Timeout"},
		{409, "Conflict"},
		{410, "Gone"},
		{413, "Content Too Large"},
		{414, "URI Too Long"},
		{429, "Too Many Requests"},
		{431, "Request Header Fields Too Large"},
		{500, "Internal Server Error"},
		{501, "Not Implemented"},
		{502, "Bad Gateway"},
		{503, "Service Unavailable"},
		{504, "Gateway Timeout"},
		{505, "HTTP Version Not Supported"},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].status == status)
			return known[i].text;
	}
	return ""; /* it may be empty, the blank before it may not (RFC 9112 4) */
}
