/*
 * units - converts between units of time.
 *
 * Thread: any; constants only.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

enum {
    MS_PER_S = 1000,
    US_PER_MS = 1000,
    US_PER_S = 1000000,
    NS_PER_US = 1000,
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000
};

#endif
