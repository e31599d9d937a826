/* version - the version of sprintd. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define SPRINTD_VERSION "0.1.0"
/* The date of this version and of its manual. It is not the date of the build,
 * so that the same source always makes the same bytes. */
#define SPRINTD_DATE "2026-11-21"

#endif
