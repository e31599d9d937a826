/*
 * state_folder - where what outlives the server is kept, unless it has a place
 * of its own: keys and certificates that authorities have given out.
 *
 * Thread: the main thread's.
 */
#ifndef CONFIG_CERTIFICATES_STATE_FOLDER_H
#define CONFIG_CERTIFICATES_STATE_FOLDER_H

#include <limits.h>

#include "base/bytes.h"

/* The state folder of root. */
#define STATE_FOLDER_DEFAULT "/var/lib/sprintd"

/* What a server has found at its start, for itself when it is another user, and
 * for sprintd-acme, which it begins as that. */
#define STATE_FOLDER_VARIABLE "SPRINTD_STATE"

/* Writes the path of the folder: the first that there is of told (unless that
 * is NULL), STATE_FOLDER_VARIABLE, STATE_DIRECTORY (systemd's) and
 * $XDG_DATA_HOME/sprintd; else STATE_FOLDER_DEFAULT for root and
 * ~/.local/share/sprintd for others. False: there is no such place, or its path
 * with some names behind it is too long. */
MUST_USE bool state_folder_find(char folder[PATH_MAX], const char *told);

#endif
