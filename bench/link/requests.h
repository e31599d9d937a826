/*
 * requests - what openloop asks for, and what came of it.
 *
 * The files' formats are told in openloop.c.
 */
#ifndef BENCH_LINK_REQUESTS_H
#define BENCH_LINK_REQUESTS_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_BYTES 64

enum outcome {
    OUTCOME_PENDING,
    OUTCOME_OK,
    OUTCOME_DESCRIPTORS, /* out of them, or of ports */
    OUTCOME_CONNECT,
    OUTCOME_RESET,
    OUTCOME_SHORT,
    OUTCOME_HEAD, /* a status but 200, another length, no proper head */
    OUTCOME_TIMEOUT,
};

struct request {
    int64_t start_ns; /* the intended one */
    int64_t begun_ns; /* the real one; these and the next three absolute */
    int64_t first_ns;
    int64_t done_ns;
    uint64_t size;
    uint64_t bytes;
    in_addr_t source;
    enum outcome outcome;
    char path[PATH_BYTES];
};

struct requests {
    struct request *list; /* by the intended start */
    size_t count;
};

/* Reads a file of arrivals, or ends the program with a word. */
void requests_load(struct requests *requests, const char *path);

/* Writes the results. zero_ns is the moment all starts count from. Ends the
 * program with a word when it cannot. */
void requests_save(const struct requests *requests, int64_t zero_ns,
                   const char *path);

#endif
