/*
 * control_place - a control socket in a folder of its own, and clients.
 */
#ifndef UNIT_CONTROL_PLACE_H
#define UNIT_CONTROL_PLACE_H

#include <sys/socket.h>
#include <sys/un.h>

#include "process/control.h"

#include "unit/place.h"

static struct place place;
static struct control *control;
static unsigned fds_before;
static uint64_t clock_ms;

static enum control_result result; /* what commands say */
static const char *words;          /* and with these */
static unsigned called;

static enum control_result on_command(void *context, struct buf *answer)
{
    unsigned *count = context;

    ++*count;
    if (words)
        buf_put(answer, bytes_of(words));
    return result;
}

/* All but `report` are there. */
static const struct control_commands commands = {
    .on = {[CONTROL_RELOAD] = on_command,
           [CONTROL_STATUS] = on_command,
           [CONTROL_STOP] = on_command,
           [CONTROL_UPGRADE] = on_command,
           [CONTROL_REOPEN] = on_command},
    .context = &called};

static int control_place_open(void **state)
{
    struct listener listener;

    (void)state;
    result = CONTROL_OK;
    words = NULL;
    called = 0;
    clock_ms = 1000;
    fds_before = place_count_fds();
    if (place_open(&place) != 0 ||
        listener_open_private(&listener, place_path(&place, "control")) != 0)
        return -1;
    control = control_create(&listener, &commands);
    return control ? 0 : -1;
}

static int control_place_close(void **state)
{
    (void)state;
    control_destroy(control);
    control = NULL;
    return place_close(&place) == 0 && place_count_fds() == fds_before ? 0 : -1;
}

/* Lets control do what it can do now, or in timeout_ms. */
static void turn(int timeout_ms)
{
    struct pollfd fds[CONTROL_FDS_MAX];

    if (!control)
        return;
    do {
        control_fds(control, fds);
        if (poll(fds, CONTROL_FDS_MAX, timeout_ms) < 0)
            return;
        control_handle(control, fds, clock_ms);
        control_fds(control, fds);
        timeout_ms = 0;
    } while (poll(fds, CONTROL_FDS_MAX, 0) > 0);
}

#endif
