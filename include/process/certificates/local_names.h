/*
 * local_names - by which names and addresses this machine is reached.
 *
 * Nobody is asked for them by the network: a name server that does not answer
 * would hold up the start.
 *
 * Thread: any; may wait for the file system.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_NAMES_H
#define PROCESS_CERTIFICATES_LOCAL_NAMES_H

#include "io/tls/tls_names.h"

/* localhost and its addresses, the machine's own name, what /etc/hosts makes of
 * it, and the addresses of its interfaces, as far as this process may ask for
 * them. */
void local_names_find(struct tls_names *names);

/* Adds the names in a text like /etc/hosts that begin with host and a dot. */
void local_names_add_hosts(struct tls_names *names, struct bytes host,
                           struct bytes text);

#endif
