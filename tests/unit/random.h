/*
 * random - getrandom(), which may fail. Needs `link: -Wl,--wrap=getrandom`.
 */
#ifndef UNIT_RANDOM_H
#define UNIT_RANDOM_H

extern unsigned random_failures_left; /* of the next calls */
extern int random_errno;              /* what they fail with */

#endif
