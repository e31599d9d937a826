"""The experiment "when does shortest-first pay?", behind bench/link.py.

wire       how many bytes a reply takes on the link, and how long that is
arrivals   who asks for what, and when: seeded, the same for every server
ideal      processor sharing and SRPT, computed for the same arrivals
network    namespaces, the narrow link, the cable that takes time (delay.c)
serving    the servers that are compared, each in a namespace
client     the open-loop client (openloop.c, requests.c) and its results
rows       what can be measured: bottleneck, kind of sizes, load
summary    figures by size class, over one run and over several seeds
measure    one run: a fresh network, one server, all arrivals
report     tables, CSV and JSON
figures    SVG by gnuplot, where there is one
check      what `--quick` looks at

The modules stand in the order of their imports: each uses only those above,
and bench/lab/.
"""
