/*
 * report - reads the Server Statistic Reports that a server has printed.
 *
 * Thread: the test's.
 */
#ifndef E2E_REPORT_H
#define E2E_REPORT_H

#include "harness.h"

/* How many there are. */
size_t report_count(const struct server *server);

/* The last one; NULL: there is none. */
const char *report_last(const struct server *server);

/* Asks for one, and waits for it. */
const char *report_ask(const struct server *server);

/* What stands behind the label in the part under title; NULL: no such row. */
const char *report_find(const char *report, const char *title,
                        const char *label);

/* 0 when there is no such row: what did not happen may be left out. */
uint64_t report_number(const char *report, const char *title,
                       const char *label);

#endif
