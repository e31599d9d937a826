/*
 * openat2 - look-ups of names, which are counted and may fail. Needs
 * `link: -Wl,--wrap=syscall`, in programs whose only such call this is.
 */
#ifndef UNIT_OPENAT2_H
#define UNIT_OPENAT2_H

extern unsigned lookups;
extern int lookup_errno;                       /* what they fail with ... */
extern unsigned lookup_failures_left;          /* ... so often from now on */
extern void (*before_lookup)(unsigned lookup); /* before one that does not */

#endif
