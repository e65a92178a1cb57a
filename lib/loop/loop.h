/* SPDX-License-Identifier: BSD-3-Clause */
/* The one poll loop of control: file descriptors, timers, signals, and work to do once per turn. One thread. */
#pragma once
#include <poll.h>
#include "base.h"

struct loop;
struct loop *loop_new(void); /* blocks SIGINT SIGTERM SIGHUP SIGWINCH SIGTSTP SIGCONT for signalfd use by loop_signal */
void loop_free(struct loop *);

uint64_t loop_now_ns(void); /* CLOCK_MONOTONIC, the clock of its timers */

typedef void loop_fn(void *arg);
typedef void loop_fd_fn(void *arg, short revents);
typedef void loop_sig_fn(void *arg, int signo);

int loop_fd(struct loop *, int fd, short events, loop_fd_fn *fn, void *arg); /* add or change; events 0 removes */
/* Lines of a TCP connection are sent at once, and a peer that vanished without a word is found within a minute. */
void loop_tcp(int fd);
/* Periodic timer by absolute deadlines (no drift); returns id >= 0. interval 0: once at first_ns from now. */
int loop_timer(struct loop *, uint64_t first_ns, uint64_t interval_ns, loop_fn *fn, void *arg);
void loop_timer_del(struct loop *, int id);
int loop_signal(struct loop *, int signo, loop_sig_fn *fn, void *arg);
/* Called at the end of every turn (control builds plans here). */
void loop_each_turn(struct loop *, loop_fn *fn, void *arg);
/* One turn: wait at most max_ns (UINT64_MAX: no limit), dispatch what is due. */
void loop_turn(struct loop *, uint64_t max_ns);
void loop_stop(struct loop *); /* loop_run returns after this turn */
bool loop_stopped(const struct loop *);
void loop_run(struct loop *);
