#include "draws.h"

#include <math.h>

uint64_t draw_seed;

double draw(void)
{
    draw_seed ^= draw_seed << 13;
    draw_seed ^= draw_seed >> 7;
    draw_seed ^= draw_seed << 17;
    return (double)(draw_seed >> 11) * 0x1p-53;
}

double draw_normal(void)
{
    double length = sqrt(-2 * log(1 - draw()));

    return length * cos(2 * M_PI * draw());
}

double draw_pareto(void)
{
    double share = 1 - draw() * (1 - pow(1024.0 / 10485760, 1.1));

    return 1024 / pow(share, 1 / 1.1);
}
