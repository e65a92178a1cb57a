/* SPDX-License-Identifier: BSD-3-Clause */
/* The poll loop of control: file descriptors, timers, signals, and functions that run once per
 * turn. One thread. */
#pragma once
#include <poll.h>
#include "base.h"

struct loop;
/* A new loop, or NULL with errno. It blocks SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP and SIGCONT,
 * and takes them by a signalfd for loop_signal(). loop_free() restores the mask. */
struct loop *loop_new(void);
void loop_free(struct loop *);

uint64_t loop_now_ns(void); /* CLOCK_MONOTONIC, the clock of the timers */

typedef void loop_fn(void *arg);
typedef void loop_fd_fn(void *arg, short revents);
typedef void loop_sig_fn(void *arg, int signo);

/* Adds or changes a file descriptor: fn is called when poll() reports events. events 0 removes it.
 * 0 or -EBADF. */
int loop_fd(struct loop *, int fd, short events, loop_fd_fn *fn, void *arg);
/* Options of a TCP connection: lines are sent at once, and a peer that has vanished is noticed
 * within about a minute. */
void loop_tcp(int fd);
/* Adds a timer: fn is called first_ns from now, and then every interval_ns by absolute deadlines,
 * without drift; 0: only once. Returns its id >= 0. */
int loop_timer(struct loop *, uint64_t first_ns, uint64_t interval_ns, loop_fn *fn, void *arg);
void loop_timer_del(struct loop *, int id);
/* fn is called when the signal has arrived. -EINVAL: it is not one that loop_new() blocks. */
int loop_signal(struct loop *, int signo, loop_sig_fn *fn, void *arg);
/* fn is called at the end of every turn (control builds plans there). */
void loop_each_turn(struct loop *, loop_fn *fn, void *arg);
/* One turn: waits for at most max_ns (UINT64_MAX: no limit), then calls what is due. */
void loop_turn(struct loop *, uint64_t max_ns);
void loop_stop(struct loop *); /* loop_run() returns after this turn */
bool loop_stopped(const struct loop *);
void loop_run(struct loop *);
