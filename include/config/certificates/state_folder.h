/*
 * state_folder - the folder for files that outlive the server, such as keys and
 * certificates from authorities. An option can name another folder for them.
 *
 * Thread: the main thread's.
 */
#ifndef CONFIG_CERTIFICATES_STATE_FOLDER_H
#define CONFIG_CERTIFICATES_STATE_FOLDER_H

#include <limits.h>

#include "base/bytes.h"

/* The default folder of a server that root starts. */
#define STATE_FOLDER_DEFAULT "/var/lib/sprintd"

/* Environment variable: the folder that the server found at its start. The
 * server passes it to sprintd-acme, and to itself when it changes its user. */
#define STATE_FOLDER_VARIABLE "SPRINTD_STATE"

/* Writes the path of the folder. It is the first of these that is set: `told`,
 * STATE_FOLDER_VARIABLE, STATE_DIRECTORY (set by systemd),
 * $XDG_DATA_HOME/sprintd, and STATE_FOLDER_DEFAULT for root or
 * ~/.local/share/sprintd for others. Returns false if none is set, or if the
 * path leaves no room for the names of its files. */
MUST_USE bool state_folder_find(char folder[PATH_MAX], const char *told);

#endif
