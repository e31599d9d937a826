"""The experiments of bench/laboratory.py.

model      what an experiment is, and what comes out of one
bench      what an experiment works with
figures    gnuplot's scripts for figures
results    files of what came out; how far a run has come
parts      what is measured of an experiment that was broken off
writing    the report
derived    what the report computes of tables
originals  the originals' tables and questions, and where ours are
catalog    all experiments, in the order of the report

Each module that the catalog names has a constant EXPERIMENT. What some of them
need besides:

paired         numbers of the same rounds: ratios, and how sure they are
verdicts       claims of such ratios, and what was too noisy
closed_loops   h2load and httperf in rounds, for file_size and its neighbours
receiving      a client that looks at less, for chunk_size and parallel_clients
ladder_load    requests and files, for ladder
old_disk       a disk and a link as they were, for ladder
cache_*        lists of requests, hit ratios, times, for cache_bound
spt_*          runs, short and long, and what they say, for spt_slow_link
kv_runs        sessions of a store, for kv_threads
kv_client_report   what httperf says of such sessions, for kv_threads
kv_locks       a store under locks, and the original's comparison, for kv_cache
proxy_ab       ab through proxies, for proxy
proxy_reports  what ab prints, beside what the originals' has printed
peers_latency  an open loop, for peers
stacks         perf's samples by phase, for where_time_goes
versus         claims against peers, for proxy and peers
"""
