/* version - which sprintd this is. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define SPRINTD_VERSION "0.1.0"
/* The day of this version and of its manual, which is not the day it was built
 * on: the same source makes the same bytes. */
#define SPRINTD_DATE "2026-11-21"

#endif
