"""The laboratory of bench/: servers, loads and what is measured of them.

machine    what /proc tells: CPU time, memory, processes, the machine itself
processes  starts programs on a CPU and ends them, whatever happens
site       the files that are served
servers    each server's configuration, command line and version
compiled   programs in C, and one run of such a client
loads      each load's shape, the goal set for it, and one run of wrk
tools      ab, httperf and h2load, and what they say
rounds     takes turns: every server once before any is measured again
idle       memory per idle connection
costs      the same servers with and without logs and statistics
report     tables of what came out
plot       figures: how they look, and gnuplot
stores     servers of keys and values
kv         sprintd's store against a file, single commits, Redis, webdis
scale      stores of more and more keys
pressure   takes pages of files away, as others that need memory do
filled     sprintd's store, filled beforehand, cached or not
sessions   clients of such a store, and the log's word on what they saw
kv_report  tables of these
proxy      sprintd, nginx and haproxy before the same servers
classic    ab through them to Python's http.server
proxy_report  tables of these
setup      what both programs begin with: options, CPUs, a folder

The modules stand in the order of their imports: each uses only those above.
"""
