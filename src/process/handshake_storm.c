#include "process/handshake_storm.h"

/* Handshakes per second and worker that make a storm. They take a fifth of the
 * worker's time. */
enum { STORM_PER_S = 1000 };

static const double window_s = 0.1;

bool handshake_storm_note(struct handshake_storm *storm, double now_s,
                          size_t count, size_t workers)
{
    double limit = STORM_PER_S * window_s * (double)workers;
    double passed_s = now_s - storm->since_s;
    bool has_blown = storm->blows;

    /* The time passed is negative if the clock was set back. */
    if (passed_s < 0 || passed_s >= window_s) {
        storm->blows = has_blown && passed_s >= 0 &&
                       (double)storm->count * window_s >= limit / 2 * passed_s;
        storm->since_s = now_s;
        storm->count = 0;
    }
    storm->count += count;
    if ((double)storm->count >= limit)
        storm->blows = true;
    return storm->blows != has_blown;
}
