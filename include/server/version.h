/* version - which sprintd this is. */
#ifndef SERVER_VERSION_H
#define SERVER_VERSION_H

#define SPRINTD_VERSION "0.1.0"
/* Of that version and of its manual; not the day it was built on, so that the
 * same source makes the same bytes. */
#define SPRINTD_DATE "2026-11-21"

#endif
