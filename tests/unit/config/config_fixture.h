/*
 * config_fixture - options as a configuration file tells them, and what is
 * wrong with it.
 */
#ifndef UNIT_CONFIG_FIXTURE_H
#define UNIT_CONFIG_FIXTURE_H

#include "config/command_line.h"
#include "config/config.h"
#include "suite.h"

extern struct options options;
extern struct faults faults;
extern char *said; /* the report */

void forget(void);

/* Reads a text as if it lay in /srv, below a command line of words. */
void read_below(const char *words, struct bytes text);

void read_text(const char *text);
void read_well(const char *text);

/* The report is those lines, and nothing else. */
void expect_faults(const char *text, const char *expected);

int tear_down(void **state);

#endif
