#include "acme_pebble.h"

struct pebble *pebble;
struct acme_place place;

const char *acme_pebble_begin(const struct pebble_options *options)
{
    if (!pebble_is_there())
        skip();
    pebble = pebble_start(options);
    place = acme_place_of(pebble);
    return pebble_root(pebble);
}

int acme_pebble_after(void **state)
{
    pebble_stop(pebble);
    pebble = NULL;
    return acme_after(state);
}
