/*
 * draw - numbers that look random and are the same in every run (splitmix64).
 */
#ifndef UNIT_DRAW_H
#define UNIT_DRAW_H

#include <stdint.h>

extern uint64_t draw_seed;

uint64_t draw_bits(void);
unsigned draw(unsigned below);

#endif
