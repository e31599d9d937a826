"""The laboratory of bench/: servers, loads and what is measured of them.

machine    what /proc tells: CPU time, memory, processes, the machine itself
processes  starts programs on a CPU and ends them, whatever happens
site       the files that are served
servers    each server's configuration, command line and version
loads      each load's shape, the goal set for it, and one run of wrk
rounds     takes turns: every server once before any is measured again
idle       memory per idle connection
costs      the same servers with and without logs and statistics
report     tables of what came out
setup      what both programs begin with: options, CPUs, a folder

The modules stand in the order of their imports: each uses only those above.
"""
