/*
 * local_names - finds the names and addresses by which this machine is reached.
 *
 * The network is not asked: a name server that does not answer would delay the
 * start.
 *
 * Thread: any; may wait for the file system.
 */
#ifndef PROCESS_CERTIFICATES_LOCAL_NAMES_H
#define PROCESS_CERTIFICATES_LOCAL_NAMES_H

#include "io/tls/tls_names.h"

/* Finds localhost and its addresses, the machine's name with its forms in
 * /etc/hosts, and the addresses of its interfaces, if this process may ask for
 * them. */
void local_names_find(struct tls_names *names);

/* Adds those names in a text like /etc/hosts that begin with host and a dot. */
void local_names_add_hosts(struct tls_names *names, struct bytes host,
                           struct bytes text);

#endif
