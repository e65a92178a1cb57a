/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that are the requests and responses of flows: whether their other settings fit them. */
#include <errno.h>
#include <stdlib.h>

#include "filebytes.h"
#include "flows_ctl.h"

/* One of the two files, and the settings of the same thing. */
struct file_of {
	const char *word; /* "request" */
	const struct filebytes *file;
	const char *size; /* the setting of this name */
	bool own;         /* this end sends it */
};

static int file_alone(const struct file_of *f, struct err *e)
{
	return err_set(e, EINVAL,
		       "%s and %s.file are both set: '%.200s' says how many bytes there are; "
		       "`set <streams> %s auto`, or `set <streams> %s.file none`",
		       f->word, f->word, f->file->name, f->word, f->word);
}

/* What is made of settings is not in a message that is there already. */
static int file_http_alone(const struct flows_cfg *cfg, const struct file_of *f, struct err *e)
{
	const bool client = cfg->role == FLOWS_CLIENT;
	const struct {
		const char *name;
		bool set;
	} of[] = {{"http.method", client && cfg->method[0] != '\0'},
		  {"http.path", client && cfg->path[0] != '\0'},
		  {"http.host", client && cfg->host[0] != '\0'},
		  {"http.status", !client && cfg->status[0] != '\0'},
		  {"http.header", cfg->header[0] != '\0'},
		  {"http.chunked", cfg->chunked}};

	for (unsigned i = 0; i < ARRAY_SIZE(of); i++)
		if (of[i].set)
			return err_set(
				e, EINVAL,
				"%s and %s.file are both set: '%.200s' is sent as it is; "
				"`set <streams> %s default`, or `set <streams> %s.file none`",
				of[i].name, f->word, f->file->name, of[i].name, f->word);
	return 0;
}

static int file_http(const struct flows_cfg *cfg, const struct file_of *f, bool response,
		     struct err *e)
{
	struct wl_http_whole whole;
	struct err why;

	if (wl_http_whole(f->file->b, f->file->n, response, &whole, &why) < 0)
		return err_set(e, EINVAL,
			       "%s.file: '%.200s': %s; `set <streams> app bytes` sends any file",
			       f->word, f->file->name, why.text);
	free(whole.data);
	return f->own ? file_http_alone(cfg, f, e) : 0;
}

int flows_files_check(const struct stream_cfg *of, bool udp, struct err *e)
{
	const struct flows_cfg *cfg = flows_cfg_of(of);
	const struct file_of file[] = {{"request", of->request_file, cfg->request,
					cfg->role == FLOWS_CLIENT},
				       {"response", of->response_file, cfg->response,
					cfg->role == FLOWS_SERVER}};
	unsigned kind = cfg->app.kind;
	int rc = 0;

	if (kind == FLOWS_AUTO)
		kind = udp ? FLOWS_BYTES : FLOWS_HTTP;
	for (unsigned i = 0; i < ARRAY_SIZE(file) && rc == 0; i++) {
		const struct file_of *f = &file[i];
		if (f->file == NULL)
			continue;
		if (kind == FLOWS_STREAM || kind == FLOWS_DIALOG)
			rc = err_set(
				e, EINVAL,
				"%s.file: `app %s` sends no file; `set <streams> app bytes` or "
				"`app http` does, or `set <streams> %s.file none`",
				f->word, kind == FLOWS_STREAM ? "stream" : "dialog", f->word);
		else if (f->size[0] != '\0' && (kind == FLOWS_BYTES || f->own))
			rc = file_alone(f, e);
		else if (kind == FLOWS_HTTP)
			rc = file_http(cfg, f, i == 1, e);
	}
	return rc;
}
