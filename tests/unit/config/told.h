/*
 * told - options as a command line tells them.
 */
#ifndef UNIT_TOLD_H
#define UNIT_TOLD_H

#include "config/command_line.h"
#include "suite.h"

extern struct options options;
extern char errors[4096]; /* what was said about them */

/* Reads arguments that are separated by single spaces; "_" stands for an
 * empty one. 0 or -EINVAL. */
int read_options(const char *line);

void read_well(const char *line);
void read_badly(const char *line);

#define AT(member) offsetof(struct options, member)

uint64_t number_at(size_t offset);
const char *text_at(size_t offset);
bool switch_at(size_t offset);

/* Of a group. */
int forget_options(void **state);

#endif
