#include "process/limits.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/log.h"
#include "process/machine_memory.h"

enum {
    FDS_PER_WORKER = 4, /* epoll, eventfd, timerfd, one spare */
    /* Descriptors for the standard streams, the root, the log, signals, the
     * compressor, dictionaries and so on. */
    FDS_RESERVED = 50,
    FDS_MAX = 1 << 20, /* used if the system's limit is "unlimited" */
    FDS_PER_PIPE = 2,
    PIPES_MAX = 256 /* pipes per worker, which hold at most 64 MiB */
};

static size_t count_cpus(void)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) == -1)
        return 1;
    return (size_t)CPU_COUNT(&cpus);
}

static size_t raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
        return 1024;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
            getrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur > FDS_MAX ? FDS_MAX : (size_t)limit.rlim_cur;
}

int limits_plan(struct limits *limits, size_t workers, size_t listeners,
                size_t connections_max, bool has_proxies)
{
    size_t descriptors = raise_descriptor_limit();
    size_t fixed;
    size_t left;

    limits->cpus = count_cpus();
    limits->memory_bytes = machine_memory();
    limits->kept_files_max = 0;
    limits->workers = workers > 0 ? workers : limits->cpus;
    fixed = FDS_RESERVED + listeners + limits->workers * FDS_PER_WORKER;
    if (descriptors < fixed + (has_proxies ? 4 : 2) * limits->workers) {
        fprintf(stderr,
                "sprintd: %zu descriptors are too few for %zu workers; raise "
                "'ulimit -n' or lower --workers\n",
                descriptors, limits->workers);
        return -EMFILE;
    }
    left = descriptors - fixed;
    limits->pipes_max = left / 8 / FDS_PER_PIPE / limits->workers;
    if (limits->pipes_max > PIPES_MAX)
        limits->pipes_max = PIPES_MAX;
    if (has_proxies)
        left = (left - limits->workers * limits->pipes_max * FDS_PER_PIPE) / 2;
    limits->connections_max = left - left / 4;
    if (connections_max > left - limits->workers)
        log_warning("--max-connections %zu needs more descriptors than "
                    "'ulimit -n' allows; %zu it is",
                    connections_max, limits->connections_max);
    else if (connections_max > 0)
        limits->connections_max = connections_max;
    limits->cached_fds_max = (left - limits->connections_max) / limits->workers;
    return 0;
}

void limits_share_files(struct limits *limits)
{
    size_t half = limits->cached_fds_max / 2;

    limits->kept_files_max = half * limits->workers;
    limits->cached_fds_max -= half;
}
