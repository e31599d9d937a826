/*
 * server_priv - what harness.c and server.c share.
 */
#ifndef E2E_SERVER_PRIV_H
#define E2E_SERVER_PRIV_H

#include <stdbool.h>

/* 0, or -1 when there is no program to start. */
int servers_begin(void);

/* Those that run now are not ended with the test. */
void servers_keep(void);

/* Ends all, or all that are not kept. 0, or -1 when one of them did not end
 * as it should. */
int servers_end(bool with_kept);

#endif
