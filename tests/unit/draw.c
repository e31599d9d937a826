#include "unit/draw.h"

uint64_t draw_seed;

uint64_t draw_bits(void)
{
    uint64_t x = draw_seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

unsigned draw(unsigned below)
{
    return (unsigned)(draw_bits() % below);
}
