/*
 * tls_challenge - answers the TLS connection by which an authority checks that
 * a name is ours (RFC 8737). A client that offers "acme-tls/1" and nothing else
 * gets a certificate for the name that it asks for, and then the connection
 * ends. The program that orders certificates has put that certificate into a
 * folder.
 *
 * Thread: any; waits for the file system, when a client offers acme-tls/1.
 */
#ifndef IO_TLS_TLS_CHALLENGE_H
#define IO_TLS_TLS_CHALLENGE_H

#include "base/bytes.h"

enum { TLS_CHALLENGE_FILE_MAX = 48 };

/* Makes the file name for the certificate that answers challenges for `name`.
 * The file holds a key, so nobody may fetch it: its name has a dot, which no
 * token of an HTTP challenge has (handler/challenge.h). */
void tls_challenge_file(struct bytes name,
                        char file_out[TLS_CHALLENGE_FILE_MAX]);

#endif
