/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that are no commands of this program but that people know from others, each with an answer
 * that names the right command. */
#include "verbs.h"

#define LATER(what) what " is not in this version"

const struct cmd_known cmd_known_words[] = {
	{"stats,stat,statistics,status,counters,counts,totals,results,st", "`show stats` tells the counters, `page main` shows them"},
	{"rates,bandwidth,throughput,bw,pps,bps", "`show rates` tells what is asked and what is sent"},
	{"ports,port,devices,device,interfaces,ifconfig,nics,nic,portlist,portinfo,ls,list,ethtool", "`show ports` tells of the ports"},
	{"links,linkstate,linkstatus", "`show ports` tells the state of each link"},
	{"streams,flowlist", "`show streams` lists the streams"},
	{"latencies,rtt,jitterstats,histogram,percentiles,delays", "`show latency` tells what probes took"},
	{"logs,log,dmesg,messages,syslog,history,events", "`show log` tells the last messages"},
	{"packet,packets,frames,pkt,hexdump,dissect,decode,view", "`show frame` prints the frame of a stream"},
	{"queue,queues", "`show queues` tells of each queue"},
	{"xstats,xstat,extended", "`show xstats` tells the device's own counters"},
	{"cores,lcores,cpus,cpu,workers,threads,affinity", "`show map` tells which core serves which queue; `page cpu` shows their load"},
	{"plan,plans", "`show plan` tells what each worker does"},
	{"clock,tsc,timer,time,date", "`show clock` tells of the clock"},
	{"settings,setting,config,configuration,configure,options,option,params,parameters,get,print,variables,env",
	 "`show settings` lists the settings, `set` changes them"},
	{"result,verdict,report", "`show trial` tells the last trial"},
	{"pages,tui,gui,top,watch,monitor,dashboard,ui", "`screen on` opens the full screen, `page NAME` chooses what it shows"},
	{"bye,logout,q,leave,finish", "`quit` leaves"},
	{"man,usage,commands,manual,info,about,h", "`help` lists what there is, `help WORD` tells about one"},
	{"go,run,begin,send,transmit,tx,fire,blast,resume,launch,play", "`start <ports>` begins to send"},
	{"halt,pause,abort,kill,end,cancel,break,stopall,suspend", "`stop <ports>` ends sending"},
	{"zero,wipe,flush,clearstats,resetstats", "`clear <ports>` begins to count anew"},
	{"bench,benchmark,rfc2544,test,measure,sweep,ndr,loss", "`trial <ports> rate R for D` measures at one rate; `examples/lua/sweep.lua` many"},
	{"write,store,export,dump,backup", "`save FILE` writes the settings"},
	{"import,source,include,open,read,restore,exec", "`load FILE` reads settings, `script FILE` runs commands or Lua"},
	{"add,new,create,insert", "`stream add` makes a stream; `help stream` tells more"},
	{"del,delete,remove,rm,destroy", "`stream del` takes a stream away; `help stream` tells more"},
	{"replay,tcpreplay,pcapreplay,push,playback", LATER("replay of captured frames")},
	{"record,recorder,sniff,tcpdump,snoop,dumpcap,tshark", LATER("capture")},
	{"arping,traceroute,arp,nd,neighbours,neighbors,host,ip,route,gateway", LATER("a port as an IP host")},
	{"iperf,iperf3,neper,netperf,tcp_rr,tcp_stream,tcp_crr,udp_rr,http,https,wrk,flows,flow,connections,sessions,server,client,dperf",
	 LATER("traffic of connections")},
	{"capacity,doctor,lb,stacks,acquire,release,portattr,service,prom,tunables,profile,validate", LATER("that")},
	{NULL, NULL},
};
