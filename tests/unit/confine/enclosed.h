/*
 * enclosed - runs a function in a child, for what cannot be undone.
 */
#ifndef UNIT_ENCLOSED_H
#define UNIT_ENCLOSED_H

/* What act returns (0..99) when it ends by itself; 128 and the signal's
 * number when one kills it; -1 when there is no child. */
int enclosed(int (*act)(void));

#endif
