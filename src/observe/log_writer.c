#include "observe/log_writer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/units.h"

enum {
    LOOK_MS = 1000, /* time between two checks of a full sink */
    LEAVE_MS = 1000 /* how long to wait for the thread after LOG_END_MS */
};

struct log_writer {
    struct log_shared shared;
    struct log_sink sink;
    const char *name;
    struct log_ring *rings;
    size_t ring_count;
    pthread_t thread;
    _Atomic unsigned reopens_wanted;
    _Atomic uint64_t ends_ms; /* when the thread must end; 0 before the stop */
    _Atomic uint64_t errors;
    _Atomic uint64_t lost_lines; /* lines lost after they were handed over */
    /* shared.mutex guards this member and the next two */
    bool has_ended;
    unsigned reopens_done;
    int reopen_err; /* result of the last reopening */
    /* Only the writing thread uses the members from here on. */
    struct now now;
    struct log_ring *ring; /* ring of the block being written, or NULL */
    struct log_block block;
    size_t at; /* how many bytes of the block were written */
    size_t next_ring;
    bool is_failing;
    bool told_failing;
    uint64_t failing_since_ms;
    uint64_t retry_ms; /* when to write again after a fault */
    uint64_t pause_ms;
    struct log_limit failures;
    struct log_limit drops;
    uint64_t told_dropped;
};

static uint64_t mono_ms(void)
{
    return now_read_ns() / NS_PER_MS;
}

/* --- Telling ------------------------------------------------------------- */

static void note_failure(struct log_writer *writer, int err)
{
    uint64_t now_ms = writer->now.mono_ms;
    uint64_t silent;

    atomic_fetch_add_explicit(&writer->errors, 1, memory_order_relaxed);
    if (!writer->is_failing) {
        writer->is_failing = true;
        writer->failing_since_ms = now_ms;
        writer->pause_ms = LOG_RETRY_MS;
        writer->told_failing = log_limit_allows(&writer->failures, now_ms,
                                                LOG_COMPLAIN_MS, &silent);
        if (writer->told_failing)
            log_error("access log '%s': %s; it is tried again and again",
                      writer->name, strerror(err));
    }
    log_debug("access log '%s': %s; next try in %llu ms", writer->name,
              strerror(err), (unsigned long long)writer->pause_ms);
    writer->retry_ms = now_ms + writer->pause_ms;
    writer->pause_ms *= 2;
    if (writer->pause_ms > LOG_RETRY_MS_MAX)
        writer->pause_ms = LOG_RETRY_MS_MAX;
}

static void note_success(struct log_writer *writer)
{
    if (!writer->is_failing)
        return;
    writer->is_failing = false;
    if (writer->told_failing)
        log_notice("access log '%s': works again after %llu s", writer->name,
                   (unsigned long long)(writer->now.mono_ms -
                                        writer->failing_since_ms) /
                       1000);
}

struct log_counters log_writer_count(const struct log_writer *writer)
{
    struct log_counters counters = {
        .dropped = atomic_load_explicit(&writer->lost_lines,
                                        memory_order_relaxed),
        .errors = atomic_load_explicit(&writer->errors, memory_order_relaxed)};

    for (size_t i = 0; i < writer->ring_count; i++) {
        counters.lines += log_ring_put_lines(&writer->rings[i]);
        counters.dropped += log_ring_dropped_lines(&writer->rings[i]);
    }
    return counters;
}

/* Logs how many lines were dropped, but not too often. Returns whether all
 * dropped lines have been logged. */
static bool tell_dropped(struct log_writer *writer)
{
    uint64_t dropped = log_writer_count(writer).dropped;
    uint64_t silent;

    if (dropped == writer->told_dropped)
        return true;
    if (!log_limit_allows(&writer->drops, writer->now.mono_ms, LOG_COMPLAIN_MS,
                          &silent))
        return false;
    log_warning("access log '%s': %llu lines dropped: it does not keep up",
                writer->name,
                (unsigned long long)(dropped - writer->told_dropped));
    writer->told_dropped = dropped;
    return true;
}

static void tell_total(const struct log_writer *writer)
{
    struct log_counters counters = log_writer_count(writer);

    if (counters.dropped > 0)
        log_warning("access log '%s': %llu lines lost in all", writer->name,
                    (unsigned long long)counters.dropped);
}

/* --- Writing ------------------------------------------------------------- */

/* Returns how many of the last written bytes belong to an incomplete line. */
static size_t count_torn(const struct log_writer *writer)
{
    const char *newline;

    if (!writer->ring || writer->at == 0)
        return 0;
    newline = memrchr(writer->block.data, '\n', writer->at);
    return newline ? (size_t)(writer->block.data + writer->at - newline - 1)
                   : writer->at;
}

static void note_reopened(struct log_writer *writer, unsigned wanted, int err)
{
    pthread_mutex_lock(&writer->shared.mutex);
    writer->reopens_done = wanted;
    writer->reopen_err = err;
    pthread_cond_broadcast(&writer->shared.changed);
    pthread_mutex_unlock(&writer->shared.mutex);
}

static void reopen(struct log_writer *writer, unsigned wanted)
{
    size_t torn = count_torn(writer);
    bool is_other;
    int err = log_sink_reopen(&writer->sink, torn, &is_other);

    note_reopened(writer, wanted, err);
    if (err != 0) {
        log_error("access log: reopen '%s': %s; going on with the old one",
                  writer->name, strerror(-err));
        return;
    }
    if (is_other)
        writer->at -= torn;
    writer->retry_ms = 0;
    log_info("access log '%s': reopened", writer->name);
}

/* Chooses the next block to write, if none is chosen; rings take turns. Returns
 * false if all blocks are written. */
static bool choose_block(struct log_writer *writer)
{
    for (size_t i = 0; i < writer->ring_count && !writer->ring; i++) {
        size_t number = (writer->next_ring + i) % writer->ring_count;

        if (log_ring_peek(&writer->rings[number], &writer->block)) {
            writer->ring = &writer->rings[number];
            writer->at = 0;
            writer->next_ring = number + 1;
        }
    }
    return writer->ring != NULL;
}

static void finish_block(struct log_writer *writer)
{
    log_ring_give_back(writer->ring);
    writer->ring = NULL;
}

static enum log_sink_result write_block(struct log_writer *writer)
{
    uint64_t refused = writer->sink.refused_lines;
    struct bytes rest = {writer->block.data + writer->at,
                         writer->block.len - writer->at};
    size_t taken;
    enum log_sink_result result = log_sink_write(&writer->sink, rest, &taken);
    int err = errno;

    writer->at += taken;
    atomic_fetch_add_explicit(&writer->lost_lines,
                              writer->sink.refused_lines - refused,
                              memory_order_relaxed);
    switch (result) {
    case LOG_SINK_DONE:
        finish_block(writer);
        note_success(writer);
        break;
    case LOG_SINK_AGAIN:
        break;
    case LOG_SINK_FAILED:
        note_failure(writer, err);
        break;
    }
    return result;
}

/* Writes until no block is left, the sink is full or fails, or the time is
 * up. */
static enum log_sink_result write_all(struct log_writer *writer,
                                      uint64_t ends_ms)
{
    for (;;) {
        unsigned wanted = atomic_load(&writer->reopens_wanted);
        enum log_sink_result result;

        now_refresh(&writer->now);
        if (wanted != writer->reopens_done)
            reopen(writer, wanted);
        if (!choose_block(writer))
            return LOG_SINK_DONE;
        if (writer->now.mono_ms < writer->retry_ms)
            return LOG_SINK_FAILED;
        if (ends_ms != 0 && writer->now.mono_ms >= ends_ms)
            return LOG_SINK_AGAIN;
        result = write_block(writer);
        if (result != LOG_SINK_DONE)
            return result;
    }
}

/* Counts all remaining lines as lost, since the time is up. */
static void give_up(struct log_writer *writer)
{
    log_sink_cut(&writer->sink, count_torn(writer));
    for (; choose_block(writer); finish_block(writer))
        for (; writer->at < writer->block.len; writer->at++)
            if (writer->block.data[writer->at] == '\n')
                atomic_fetch_add_explicit(&writer->lost_lines, 1,
                                          memory_order_relaxed);
}

/* --- The thread ---------------------------------------------------------- */

/* Waits until there may be something to write, to retry or to log. */
static void wait_for_work(struct log_writer *writer,
                          enum log_sink_result result, bool has_told,
                          uint64_t ends_ms)
{
    uint64_t now_ms = writer->now.mono_ms;
    uint64_t until_ms = UINT64_MAX;
    struct pollfd fds[] = {{.fd = writer->shared.wake_fd, .events = POLLIN},
                           {.fd = writer->sink.fd, .events = POLLOUT}};
    uint64_t wakes;
    int timeout;

    if (result == LOG_SINK_AGAIN)
        until_ms = now_ms + LOOK_MS;
    else if (result == LOG_SINK_FAILED)
        until_ms = writer->retry_ms;
    else if (!has_told)
        until_ms = writer->drops.next_ms;
    if (ends_ms != 0 && ends_ms < until_ms)
        until_ms = ends_ms;
    timeout = until_ms == UINT64_MAX ? -1
              : until_ms <= now_ms   ? 1
                                     : (int)(until_ms - now_ms);
    if (poll(fds, result == LOG_SINK_AGAIN ? 2 : 1, timeout) > 0 &&
        fds[0].revents != 0 &&
        read(writer->shared.wake_fd, &wakes, sizeof(wakes)) == -1)
        log_error("access log: eventfd: %s", strerror(errno));
}

static void *run(void *context)
{
    struct log_writer *writer = context;

    for (;;) {
        /* The thread reads ends_ms before the rings, so that it does not end
         * before it has seen all flushed lines. */
        uint64_t ends_ms = atomic_load(&writer->ends_ms);
        enum log_sink_result result = write_all(writer, ends_ms);
        bool has_told = tell_dropped(writer);

        if (ends_ms != 0 &&
            (result == LOG_SINK_DONE || writer->now.mono_ms >= ends_ms))
            break;
        wait_for_work(writer, result, has_told, ends_ms);
    }
    give_up(writer);
    log_sink_close(&writer->sink);
    pthread_mutex_lock(&writer->shared.mutex);
    writer->has_ended = true;
    pthread_cond_broadcast(&writer->shared.changed);
    pthread_mutex_unlock(&writer->shared.mutex);
    return NULL;
}

/* --- Coming and going ---------------------------------------------------- */

static void free_rings(struct log_writer *writer)
{
    for (size_t i = 0; i < writer->ring_count; i++)
        log_ring_fini(&writer->rings[i]);
    free(writer->rings);
}

static int make_rings(struct log_writer *writer, size_t ring_count)
{
    int err = 0;

    writer->rings = aligned_alloc(_Alignof(struct log_ring),
                                  ring_count * sizeof(*writer->rings));
    if (!writer->rings)
        return -ENOMEM;
    for (; err == 0 && writer->ring_count < ring_count; writer->ring_count++)
        err = log_ring_init(&writer->rings[writer->ring_count],
                            &writer->shared);
    return err;
}

int log_writer_create(struct log_writer **writer_out, struct log_sink *sink,
                      const char *name, enum log_overflow overflow,
                      size_t ring_count)
{
    struct log_writer *writer = calloc(1, sizeof(*writer));
    int err;

    if (!writer)
        return -ENOMEM;
    writer->sink = *sink;
    writer->name = name;
    err = log_shared_init(&writer->shared, overflow);
    if (err != 0)
        goto free_writer;
    err = make_rings(writer, ring_count);
    if (err == 0)
        err = -pthread_create(&writer->thread, NULL, run, writer);
    if (err != 0)
        goto free_all;
    sink->fd = -1;
    *writer_out = writer;
    return 0;

free_all:
    free_rings(writer);
    log_shared_fini(&writer->shared);
free_writer:
    free(writer);
    return err;
}

static struct timespec timespec_of(uint64_t ms)
{
    return (struct timespec){.tv_sec = (time_t)(ms / MS_PER_S),
                             .tv_nsec = (long)(ms % MS_PER_S) * NS_PER_MS};
}

/* Waits for the thread's end. Returns false if the thread has not ended at
 * until_ms. */
static bool wait_for_end(struct log_writer *writer, uint64_t until_ms)
{
    struct timespec until = timespec_of(until_ms);
    int err = 0;
    bool has_ended;

    pthread_mutex_lock(&writer->shared.mutex);
    while (!writer->has_ended && err == 0)
        err = pthread_cond_timedwait(&writer->shared.changed,
                                     &writer->shared.mutex, &until);
    has_ended = writer->has_ended;
    pthread_mutex_unlock(&writer->shared.mutex);
    return has_ended;
}

void log_writer_destroy(struct log_writer *writer)
{
    uint64_t ends_ms = mono_ms() + LOG_END_MS;

    if (!writer)
        return;
    atomic_store(&writer->ends_ms, ends_ms);
    log_shared_wake(&writer->shared);
    if (!wait_for_end(writer, ends_ms + LEAVE_MS)) {
        /* The thread is in a blocking write, perhaps to a stopped terminal. The
         * writer stays allocated for the thread; the process ends soon. */
        log_error("access log '%s': it takes nothing; the last lines are lost",
                  writer->name);
        return;
    }
    pthread_join(writer->thread, NULL);
    tell_total(writer);
    free_rings(writer);
    log_shared_fini(&writer->shared);
    free(writer);
}

struct log_ring *log_writer_ring(struct log_writer *writer, size_t number)
{
    return &writer->rings[number];
}

void log_writer_reopen(struct log_writer *writer)
{
    atomic_fetch_add(&writer->reopens_wanted, 1);
    log_shared_wake(&writer->shared);
}

int log_writer_await_reopen(struct log_writer *writer, unsigned wait_ms)
{
    struct timespec until = timespec_of(mono_ms() + wait_ms);
    unsigned wanted = atomic_load(&writer->reopens_wanted);
    int err = 0;

    pthread_mutex_lock(&writer->shared.mutex);
    while (writer->reopens_done != wanted && err == 0)
        err = pthread_cond_timedwait(&writer->shared.changed,
                                     &writer->shared.mutex, &until);
    err = writer->reopens_done == wanted ? writer->reopen_err : -ETIMEDOUT;
    pthread_mutex_unlock(&writer->shared.mutex);
    return err;
}

void log_writer_end_soon(struct log_writer *writer)
{
    log_shared_end_soon(&writer->shared, mono_ms() + LOG_END_MS);
}
