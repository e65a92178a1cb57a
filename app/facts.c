/* SPDX-License-Identifier: BSD-3-Clause */
/* The log and the placement as JSON, for `show` and for snapshots. */
#include "app.h"
#include "log.h"
#include "out.h"

#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000ull

static json_t *one_message(const struct log_entry *m)
{
	static const char *const levels[] = {
		[LOG_LVL_ERROR] = "error",
		[LOG_LVL_WARN] = "warning",
		[LOG_LVL_INFO] = "info",
		[LOG_LVL_DEBUG] = "debug",
	};
	time_t s = (time_t)(m->wall_ns / NS_PER_S);
	struct tm tm;
	char stamp[40];

	localtime_r(&s, &tm);
	size_t n = strftime(stamp, sizeof(stamp), "%H:%M:%S", &tm);
	snprintf(stamp + n, sizeof(stamp) - n, ".%03u",
		 (unsigned)(m->wall_ns % NS_PER_S / 1000000));
	json_t *o = json_object();
	json_object_set_new(o, "seq", json_integer((json_int_t)m->seq));
	json_object_set_new(o, "wall_ns", json_integer((json_int_t)m->wall_ns));
	json_object_set_new(o, "time", json_string(stamp));
	json_object_set_new(o, "level", json_string(levels[m->level]));
	json_object_set_new(o, "text", out_json_text(m->text));
	return o;
}

json_t *app_log_json(unsigned last)
{
	json_t *list = json_array();
	uint64_t next = log_next(), n = last != 0 && last < LOG_RING ? last : LOG_RING;
	struct log_entry m;

	for (uint64_t seq = next > n ? next - n : 0; seq < next; seq++)
		if (log_get(seq, &m))
			json_array_append_new(list, one_message(&m));
	return list;
}

json_t *app_map_json(const struct app *app)
{
	const struct placement *pl = ctl_placement(app->ctl);
	const struct place_in *in = ctl_place_in(app->ctl);
	json_t *doc = json_object(), *ports = json_array(), *queues = json_array(),
	       *lcores = json_array();

	for (unsigned p = 0; p < pl->nports; p++)
		json_array_append_new(ports, json_pack("{s:i,s:o,s:i,s:i}", "port", (int)p, "name",
						       out_json_text(ctl_port_name(app->ctl, p)),
						       "rx_queues", (int)pl->port[p].nrxq,
						       "tx_queues", (int)pl->port[p].ntxq));
	for (unsigned i = 0; i < pl->n; i++)
		json_array_append_new(queues,
				      json_pack("{s:i,s:s,s:i,s:i}", "port", (int)pl->q[i].port,
						"side", pl->q[i].tx ? "tx" : "rx", "queue",
						(int)pl->q[i].queue, "lcore", (int)pl->q[i].lcore));
	for (unsigned i = 0; i < in->nlcores; i++)
		json_array_append_new(lcores,
				      json_pack("{s:i,s:i,s:i}", "lcore", (int)in->lcore[i].lcore,
						"cpu", in->lcore[i].cpu, "node",
						in->lcore[i].node));
	json_object_set_new(doc, "control", json_integer(in->control));
	json_object_set_new(doc, "control_cpu",
			    in->control_cpu >= 0 ? json_integer(in->control_cpu) : json_null());
	json_object_set_new(doc, "ports", ports);
	json_object_set_new(doc, "queues", queues);
	json_object_set_new(doc, "lcores", lcores);
	return doc;
}
