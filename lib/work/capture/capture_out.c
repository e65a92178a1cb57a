/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "userfile.h"

#define BUF_BYTES (512u << 10)
/* Blocks of at least so many bytes that lie together are written from where they are. */
#define DIRECT_BYTES (48u << 10)
#define PIPE_BYTES (1 << 20) /* asked of a pipe; the system may allow less */
#define HEAD_BYTES (256u << 10)
#define FCS_BYTES 4ull
/* For the statistics of one interface, as a limit of size reserves them. */
#define STATS_BYTES 256u
/* After so many turns in which a pipe takes nothing, its end is not written. */
#define PIPE_TURNS 1000

/* What is in a file, or waits for it, of one interface. */
struct out_sum {
	uint64_t frames, bytes;
};

struct out_file {
	int fd; /* -1: not opened yet */
	dev_t dev;
	ino_t ino;
	struct out_sum *sum; /* [nifaces] */
};

struct capture_out {
	struct capture_to to;
	bool pipe; /* it cannot be cut, and may take nothing for a while */
	struct out_file *file;
	unsigned nfiles, at; /* file[at] is the present one */
	uint64_t off;        /* its bytes so far */
	uint64_t first_ns;   /* of its first frame; 0: none yet */
	uint64_t reserve;    /* bytes that its end takes at most */
	/* buf[sent..len) waits. All of it are whole blocks from 0 on. */
	uint8_t *buf;
	uint32_t len, sent;
	struct out_sum *waits; /* [nifaces]: what is in buf */
	uint64_t frames;       /* taken for the files so far, on all interfaces */
	uint8_t *head;         /* [HEAD_BYTES] */
	capture_stats_fn *stats;
	void *arg;
	struct capture_fates *fates;   /* [nifaces] */
	cell_t end, error, bytes, nth; /* nth: files begun */
};

enum capture_end capture_out_why(const struct capture_out *o)
{
	return (enum capture_end)cell_get(&o->end);
}

int capture_out_error(const struct capture_out *o)
{
	return (int)cell_get(&o->error);
}

uint64_t capture_out_bytes(const struct capture_out *o)
{
	return cell_get(&o->bytes);
}

uint64_t capture_out_files(const struct capture_out *o)
{
	return cell_get(&o->nth);
}

const struct capture_fates *capture_out_fates(const struct capture_out *o, unsigned iface)
{
	return &o->fates[iface];
}

const struct capture_to *capture_out_to(const struct capture_out *o)
{
	return &o->to;
}

void capture_out_name(const char *path, unsigned rotate, unsigned i, struct sbuf *out)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t n = dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);

	if (rotate == 0)
		sbuf_add(out, path);
	else
		sbuf_addf(out, "%.*s_%05u%s", (int)n, path, i + 1, path + n);
}

/* ---- opening ---- */

/* A file that is there is written over only if it is empty or holds frames already: whoever names
 * another one by mistake keeps it. */
static int out_may_replace(int fd, const char *name, struct err *e)
{
	static const uint32_t magic[] = {0x0a0d0d0a, 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d,
					 0x4d3cb2a1};
	uint32_t word = 0;
	ssize_t n = pread(fd, &word, sizeof(word), 0);

	if (n == 0)
		return 0;
	for (unsigned i = 0; i < ARRAY_SIZE(magic) && n == sizeof(word); i++)
		if (word == magic[i])
			return 0;
	return err_set(
		e, EEXIST,
		"'%.400s' is there already and is no capture file, so nothing is written over it; give another name, or remove it first",
		name);
}

static int out_open_file(struct capture_out *o, unsigned i, struct err *e)
{
	struct out_file *f = &o->file[i];
	struct sbuf name = {0};
	const char *why;
	bool pipe = false;
	struct stat st;
	int rc = 0;

	capture_out_name(o->to.path, o->to.rotate, i, &name);
	f->fd = userfile_open_sink(sbuf_str(&name), 0666, &pipe, &why);
	if (f->fd < 0)
		rc = err_set(e, f->fd == -EACCES ? EACCES : EINVAL, "cannot write '%.400s': %s",
			     sbuf_str(&name), why);
	else if (fstat(f->fd, &st) != 0)
		rc = err_set(e, errno, "cannot write '%.400s': %s", sbuf_str(&name),
			     strerror(errno));
	else if (!pipe)
		rc = out_may_replace(f->fd, sbuf_str(&name), e);
	if (rc == 0 && pipe && o->to.rotate > 0)
		rc = err_set(
			e, EINVAL,
			"'%.400s' is a pipe, and a ring of files cannot be written to one; leave out `rotate`",
			sbuf_str(&name));
	sbuf_free(&name);
	if (rc < 0) {
		if (f->fd >= 0)
			close(f->fd);
		f->fd = -1;
		return rc;
	}
	o->pipe = pipe;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	return 0;
}

/* Takes over a descriptor: what it is decides how it is written. */
static void out_take_fd(struct capture_out *o, int fd)
{
	struct stat st = {0};

	fstat(fd, &st);
	o->pipe = !S_ISREG(st.st_mode);
	o->file[0].fd = fd;
	o->file[0].dev = st.st_dev;
	o->file[0].ino = st.st_ino;
}

static void out_begin_file(struct capture_out *o);

struct capture_out *capture_out_open(const struct capture_to *to, int fd, capture_stats_fn *stats,
				     void *arg, struct err *e)
{
	struct capture_out *o = xcalloc(1, sizeof(*o));
	int rc = 0;

	o->to = *to;
	o->stats = stats;
	o->arg = arg;
	o->nfiles = to->rotate > 0 ? to->rotate : 1;
	o->file = xcalloc(o->nfiles, sizeof(*o->file));
	for (unsigned i = 0; i < o->nfiles; i++) {
		o->file[i].fd = -1;
		o->file[i].sum = xcalloc(to->nifaces, sizeof(*o->file[i].sum));
	}
	o->waits = xcalloc(to->nifaces, sizeof(*o->waits));
	o->fates = xcalloc_lines(to->nifaces * sizeof(*o->fates));
	o->buf = xcalloc(1, BUF_BYTES);
	o->head = xcalloc(1, HEAD_BYTES);
	o->reserve = (uint64_t)to->nifaces * STATS_BYTES;
	if (to->text)
		out_take_fd(o, fd);
	else
		rc = out_open_file(o, 0, e);
	if (rc < 0) {
		o->to = (struct capture_to){0};
		capture_out_free(o);
		return NULL;
	}
	if (o->pipe)
		(void)fcntl(o->file[0].fd, F_SETPIPE_SZ, PIPE_BYTES);
	out_begin_file(o);
	return o;
}

void capture_out_free(struct capture_out *o)
{
	if (o == NULL)
		return;
	for (unsigned i = 0; i < o->nfiles; i++) {
		if (o->file[i].fd >= 0)
			close(o->file[i].fd);
		free(o->file[i].sum);
	}
	free(o->file);
	free(o->waits);
	free(o->fates);
	free(o->buf);
	free(o->head);
	free(o->to.path);
	free(o->to.filter);
	free(o->to.iface);
	free(o);
}

bool capture_out_is(const struct capture_out *o, uint64_t dev, uint64_t ino)
{
	for (unsigned i = 0; i < o->nfiles; i++)
		if (o->file[i].ino == ino && o->file[i].dev == dev)
			return true;
	return false;
}

/* ---- writing ---- */

static void out_stop(struct capture_out *o, enum capture_end why, int error)
{
	if (capture_out_why(o) != CAPTURE_GOES_ON)
		return;
	cell_set(&o->error, (uint64_t)error);
	cell_set(&o->end, why);
}

/* Writes what the file takes now. Returns the bytes that it took; *error is 0, or errno of a write
 * that failed, or EAGAIN where a pipe is full. */
static size_t write_some(int fd, const uint8_t *at, size_t len, int *error)
{
	size_t done = 0;

	*error = 0;
	while (done < len && *error == 0) {
		ssize_t n = write(fd, at + done, len - done);
		if (n > 0)
			done += (size_t)n;
		else if (n == 0)
			*error = EIO;
		else if (errno != EINTR)
			*error = errno;
	}
	return done;
}

/* Takes off waits[] what the whole frames within the first `len` bytes are, and counts them as
 * written. Returns the bytes of these blocks. */
static size_t out_count_part(struct capture_out *o, const uint8_t *at, size_t len)
{
	size_t whole = 0;

	while (len - whole >= PCAPIO_EPB_HEAD && pcapio_epb_length(at + whole) <= len - whole) {
		const uint8_t *b = at + whole;
		whole += pcapio_epb_length(b);
		if (pcapio_word(b) != PCAPIO_EPB)
			continue;
		unsigned i = pcapio_epb_interface(b);
		uint64_t bytes = pcapio_epb_origlen(b) + FCS_BYTES;
		o->waits[i].frames--;
		o->waits[i].bytes -= bytes;
		cell_add(&o->fates[i].written, 1);
		cell_add(&o->fates[i].bytes, bytes);
		o->file[o->at].sum[i].frames++;
		o->file[o->at].sum[i].bytes += bytes;
	}
	return whole;
}

/* All that waits has been written. */
static void out_count_all(struct capture_out *o)
{
	for (unsigned i = 0; i < o->to.nifaces; i++) {
		cell_add(&o->fates[i].written, o->waits[i].frames);
		cell_add(&o->fates[i].bytes, o->waits[i].bytes);
		o->file[o->at].sum[i].frames += o->waits[i].frames;
		o->file[o->at].sum[i].bytes += o->waits[i].bytes;
		o->waits[i] = (struct out_sum){0};
	}
}

/* The file takes nothing more: at[0..len) were blocks, of which it has the first `done` bytes. A
 * file is cut behind its last whole block. */
static void out_broke(struct capture_out *o, const uint8_t *at, size_t done, int error)
{
	size_t whole = out_count_part(o, at, done);

	for (unsigned i = 0; i < o->to.nifaces; i++) {
		cell_add(&o->fates[i].write_failed, o->waits[i].frames);
		o->waits[i] = (struct out_sum){0};
	}
	o->off += whole;
	cell_add(&o->bytes, whole);
	if (!o->pipe && ftruncate(o->file[o->at].fd, (off_t)o->off) == 0)
		(void)lseek(o->file[o->at].fd, (off_t)o->off, SEEK_SET);
	out_stop(o, error == EPIPE ? CAPTURE_LEFT : CAPTURE_FAILED, error);
}

size_t capture_out_flush(struct capture_out *o)
{
	int error;

	if (o->len == 0)
		return 0;
	size_t n = write_some(o->file[o->at].fd, o->buf + o->sent, o->len - o->sent, &error);
	o->sent += (uint32_t)n;
	if (o->sent < o->len && error == EAGAIN && o->pipe)
		return o->len - o->sent;
	if (o->sent < o->len) {
		out_broke(o, o->buf, o->sent, error);
	} else {
		o->off += o->len;
		cell_add(&o->bytes, o->len);
		out_count_all(o);
	}
	o->len = o->sent = 0;
	return 0;
}

/* Writes bytes that are no frames. A pipe that is full gets them with what comes next. */
static void out_write_plain(struct capture_out *o, const uint8_t *at, size_t len)
{
	int error;

	if (o->pipe && o->len + len <= BUF_BYTES) {
		memcpy(o->buf + o->len, at, len);
		o->len += (uint32_t)len;
		return;
	}
	size_t n = write_some(o->file[o->at].fd, at, len, &error);
	if (n < len)
		out_broke(o, at, 0, error);
	else {
		o->off += len;
		cell_add(&o->bytes, len);
	}
}

/* ---- files ---- */

/* Puts the description of the file and of its interfaces into head. Returns its length. */
static size_t out_head(struct capture_out *o)
{
	struct sbuf os = {0}, ring = {0};
	const char *comment;
	struct utsname u;
	size_t len = 0;

	if (uname(&u) == 0)
		sbuf_addf(&os, "%s %s", u.sysname, u.release);
	sbuf_addf(&ring, "file %llu of a capture, in a ring of %u files",
		  (unsigned long long)cell_get(&o->nth), o->to.rotate);
	comment = ring.s;
	struct pcapio_section sec = {.os = os.s,
				     .application = o->to.program,
				     .comments = &comment,
				     .ncomments = o->to.rotate > 0};
	ssize_t n = pcapio_put_section(o->head, HEAD_BYTES, &sec);
	for (unsigned i = 0; n > 0 && i <= o->to.nifaces; i++) {
		len += (size_t)n;
		if (i == o->to.nifaces)
			break;
		const struct capture_iface *f = &o->to.iface[i];
		struct pcapio_interface d = {.link_type = PCAPIO_ETHERNET,
					     .has_mac = f->has_mac,
					     .snaplen = o->to.snap,
					     .speed_bps = f->speed_bps,
					     .name = f->name,
					     .description = f->description,
					     .filter = o->to.filter};
		memcpy(d.mac, f->mac, sizeof(d.mac));
		n = pcapio_put_interface(o->head + len, HEAD_BYTES - len, &d);
	}
	sbuf_free(&os);
	sbuf_free(&ring);
	return len;
}

/* What the file held before is gone from now on. */
static void out_forget(struct capture_out *o, struct out_file *f)
{
	for (unsigned i = 0; i < o->to.nifaces; i++) {
		cell_add(&o->fates[i].rotated_out, f->sum[i].frames);
		cell_add(&o->fates[i].rotated_bytes, f->sum[i].bytes);
		f->sum[i] = (struct out_sum){0};
	}
}

/* Begins file[at]. A file of a ring is written over where it lies, because new room would cost more
 * than writing: it is cut to its length at its end. */
static void out_begin_file(struct capture_out *o)
{
	struct out_file *f = &o->file[o->at];
	struct err e;

	if (f->fd < 0 && out_open_file(o, o->at, &e) < 0) {
		out_stop(o, CAPTURE_FAILED, EACCES);
		return;
	}
	out_forget(o, f);
	cell_add(&o->nth, 1);
	o->off = o->first_ns = 0;
	if (!o->pipe && !o->to.text && lseek(f->fd, 0, SEEK_SET) != 0)
		out_stop(o, CAPTURE_FAILED, errno);
	else if (!o->pipe && !o->to.text && o->to.rotate == 0 && ftruncate(f->fd, 0) != 0)
		out_stop(o, CAPTURE_FAILED, errno);
	else
		out_write_plain(o, o->head, out_head(o));
}

/* Writes the statistics of the interfaces, if there is room, and cuts the file to its length. */
static void out_end_file(struct capture_out *o)
{
	size_t len = 0;
	int error;

	for (unsigned i = 0; i < o->to.nifaces; i++) {
		struct pcapio_stats s = {.interface = i};
		o->stats(o->arg, i, &s);
		pcapio_stats_set(&s, PCAPIO_START, o->to.begin_ns);
		pcapio_stats_set(&s, PCAPIO_DELIVERED, cell_get(&o->fates[i].written));
		ssize_t n = pcapio_put_stats(o->head + len, HEAD_BYTES - len, &s);
		len += n > 0 ? (size_t)n : 0;
	}
	if (o->pipe) {
		out_write_plain(o, o->head, len);
		return;
	}
	size_t n = write_some(o->file[o->at].fd, o->head, len, &error);
	o->off += n == len ? len : 0;
	cell_add(&o->bytes, n == len ? len : 0);
	if (ftruncate(o->file[o->at].fd, (off_t)o->off) != 0)
		out_stop(o, CAPTURE_FAILED, errno);
}

static void out_rotate(struct capture_out *o)
{
	capture_out_flush(o);
	if (capture_out_why(o) != CAPTURE_GOES_ON)
		return;
	out_end_file(o);
	o->at = (o->at + 1) % o->nfiles;
	out_begin_file(o);
}

/* ---- frames ---- */

/* Puts blocks behind those that wait, or writes them at once. All is known to be within the limits.
 * false: a pipe is full. */
static bool out_add(struct capture_out *o, const struct capture_blocks *b)
{
	int error;

	if (o->len + b->len > BUF_BYTES || (b->len >= DIRECT_BYTES && !o->pipe)) {
		if (capture_out_flush(o) > 0)
			return false;
		if (capture_out_why(o) != CAPTURE_GOES_ON) {
			cell_add(&o->fates[b->iface].write_failed, b->frames);
			return true;
		}
	}
	o->frames += b->frames;
	o->first_ns = o->first_ns == 0 ? b->first_ns : o->first_ns;
	o->waits[b->iface].frames += b->frames;
	o->waits[b->iface].bytes += b->bytes;
	if (b->len < DIRECT_BYTES || o->pipe) {
		memcpy(o->buf + o->len, b->at, b->len);
		o->len += b->len;
		return true;
	}
	size_t n = write_some(o->file[o->at].fd, b->at, b->len, &error);
	if (n < b->len) {
		out_broke(o, b->at, n, error);
	} else {
		o->off += n;
		cell_add(&o->bytes, n);
		out_count_all(o);
	}
	return true;
}

/* Would these blocks go beyond the size or the time of the file? An empty file takes a frame
 * whatever its size. */
static bool out_too_large(const struct capture_out *o, const struct capture_blocks *b)
{
	return o->to.size_bytes > 0 && (o->first_ns != 0 || b->frames > 1) &&
	       o->off + o->len + b->len + o->reserve > o->to.size_bytes;
}

static bool out_too_late(const struct capture_out *o, const struct capture_blocks *b)
{
	uint64_t first_ns = o->first_ns != 0 ? o->first_ns : b->first_ns;

	return o->to.every_ns > 0 && b->last_ns > first_ns &&
	       b->last_ns - first_ns >= o->to.every_ns;
}

static bool out_too_many(const struct capture_out *o, const struct capture_blocks *b)
{
	return o->to.frames > 0 && o->frames + b->frames > o->to.frames;
}

/* Blocks that come when the end has come already. */
static void out_refuse(struct capture_out *o, const struct capture_blocks *b)
{
	struct capture_fates *f = &o->fates[b->iface];
	enum capture_end why = capture_out_why(o);

	cell_add(why == CAPTURE_FAILED || why == CAPTURE_LEFT ? &f->write_failed : &f->beyond_limit,
		 b->frames);
}

/* Takes one frame, which may be the first one beyond a limit. */
static bool out_put_one(struct capture_out *o, const struct capture_blocks *b)
{
	if (out_too_many(o, b)) {
		out_stop(o, CAPTURE_LIMIT_FRAMES, 0);
	} else if (out_too_large(o, b) || out_too_late(o, b)) {
		if (o->to.rotate > 0)
			out_rotate(o);
		else
			out_stop(o, CAPTURE_LIMIT_SIZE, 0);
	}
	if (capture_out_why(o) == CAPTURE_GOES_ON)
		return out_add(o, b);
	out_refuse(o, b);
	return true;
}

bool capture_out_put(struct capture_out *o, const struct capture_blocks *b)
{
	if (capture_out_why(o) != CAPTURE_GOES_ON) {
		out_refuse(o, b);
		return true;
	}
	if (!out_too_many(o, b) && !out_too_large(o, b) && !out_too_late(o, b)) {
		if (!out_add(o, b))
			return false;
		if (o->to.frames > 0 && o->frames == o->to.frames)
			out_stop(o, CAPTURE_LIMIT_FRAMES, 0);
		return true;
	}
	/* A pipe takes all or nothing. */
	if (o->pipe && o->len + b->len > BUF_BYTES && capture_out_flush(o) > 0)
		return false;
	struct capture_blocks one = {.iface = b->iface, .frames = 1};
	for (const uint8_t *at = b->at; at < b->at + b->len; at += one.len) {
		one.at = at;
		one.len = pcapio_epb_length(at);
		one.first_ns = one.last_ns = pcapio_epb_stamp(at);
		one.bytes = pcapio_epb_origlen(at) + FCS_BYTES;
		out_put_one(o, &one);
	}
	return true;
}

/* ---- the end ---- */

void capture_out_give_up(struct capture_out *o)
{
	out_broke(o, o->buf, o->sent, ETIMEDOUT);
	o->len = o->sent = 0;
}

void capture_out_end(struct capture_out *o)
{
	capture_out_flush(o);
	if (capture_out_why(o) != CAPTURE_LEFT && capture_out_error(o) != ETIMEDOUT)
		out_end_file(o);
	for (unsigned i = 0; o->pipe && i < PIPE_TURNS && capture_out_flush(o) > 0; i++)
		usleep(1000);
	/* The descriptors of regular files stay until control has seen what became of their
	 * names. */
	if (o->pipe) {
		close(o->file[0].fd);
		o->file[0].fd = -1;
	}
}

void capture_out_moved(const struct capture_out *o, struct sbuf *out)
{
	for (unsigned i = 0; i < o->nfiles && !o->pipe && !o->to.text; i++) {
		struct sbuf name = {0};
		struct stat open, named;
		if (o->file[i].fd < 0 || fstat(o->file[i].fd, &open) != 0)
			continue;
		capture_out_name(o->to.path, o->to.rotate, i, &name);
		if (open.st_nlink == 0)
			sbuf_addf(out, "; '%s' was deleted meanwhile, and its frames are lost",
				  sbuf_str(&name));
		else if (stat(sbuf_str(&name), &named) != 0 || named.st_ino != open.st_ino ||
			 named.st_dev != open.st_dev)
			sbuf_addf(
				out,
				"; the file '%s' was moved meanwhile, and its frames went with it",
				sbuf_str(&name));
		sbuf_free(&name);
	}
}
