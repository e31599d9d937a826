/*
 * place - a temporary folder of a test's own, removed with all that is in it.
 */
#ifndef UNIT_PLACE_H
#define UNIT_PLACE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

enum { PLACE_NAME_MAX = 64 };

struct place {
    char name[PLACE_NAME_MAX];
    int fd;
    unsigned fds; /* open in the process since it was opened */
};

/* 0 or -1. */
int place_open(struct place *place);

int place_close(struct place *place);

/* The same; -1 also when not just those descriptors are open that were. */
int place_close_tidy(struct place *place);

/* A suite's each_begin and each_end, where a test needs nothing but a place. */
extern struct place test_place;
int place_begin(void **state);
int place_end(void **state);

/* The full path of a name in it; good until the next but three. */
const char *place_path(const struct place *place, const char *name);

/* Writes len bytes into a file, made or cut off before. The same inode stays
 * when it is there. 0 or -1. */
int place_write_bytes(const struct place *place, const char *name,
                      const void *data, size_t len);

int place_write(const struct place *place, const char *name, const char *text);

/* Sets when a file was last modified. 0 or -1. */
int place_set_time(const struct place *place, const char *name, time_t seconds);

/* How many descriptors the process has open. */
unsigned place_count_fds(void);

#endif
