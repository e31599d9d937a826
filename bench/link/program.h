/*
 * program - what the programs of this folder have in common: the clock, and
 * an end with a word.
 */
#ifndef BENCH_LINK_PROGRAM_H
#define BENCH_LINK_PROGRAM_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_US 1000
#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

/* Says what failed, and why by errno. */
static inline _Noreturn void die(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
            strerror(errno));
    exit(EXIT_FAILURE);
}

static inline int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static inline struct timespec timespec_of_ns(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

#endif
