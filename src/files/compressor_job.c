#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "files/compressor_job_priv.h"
#include "files/file_text.h"

static const codec_fn codecs[] = {[CODING_GZIP] = codec_gzip,
                                  [CODING_ZSTD] = codec_zstd,
                                  [CODING_BR] = codec_brotli,
                                  [CODING_DCZ] = codec_zstd};

/* A delta begins with a skippable frame, whose 32 bytes are the hash of its
 * dictionary (RFC 9842 5). */
static const char delta_magic[] = {0x5e, 0x2a, 0x4d, 0x18, 0x20, 0, 0, 0};
enum { DELTA_HEAD = sizeof(delta_magic) + DICTIONARY_HASH_BYTES };

/* --- Results ------------------------------------------------------------- */

void coded_body_hold(struct coded_body *body)
{
    atomic_fetch_add_explicit(&body->refs, 1, memory_order_relaxed);
}

void coded_body_release(struct coded_body *body)
{
    if (body &&
        atomic_fetch_sub_explicit(&body->refs, 1, memory_order_acq_rel) == 1)
        free(body);
}

/* --- Running ------------------------------------------------------------- */

/* Finishes a body of `len` bytes, and gives back the memory that it does not
 * need. */
static struct coded_body *finish_body(struct coded_body *body, size_t len)
{
    struct coded_body *smaller = realloc(body, sizeof(*body) + len);

    if (smaller)
        body = smaller;
    atomic_init(&body->refs, 1);
    body->len = len;
    body->hash = XXH3_64bits(body->bytes, len);
    return body;
}

/* Writes the head that precedes the codec's bytes in a delta. Returns its
 * length, or 0 when the job makes no delta. */
static size_t write_head(const struct compressor_job *job, char *to)
{
    if (!job->dictionary)
        return 0;
    memcpy(to, delta_magic, sizeof(delta_magic));
    memcpy(to + sizeof(delta_magic), job->dictionary->hash,
           DICTIONARY_HASH_BYTES);
    return DELTA_HEAD;
}

static enum compressor_job_state compress(struct compressor_job *job,
                                          struct bytes text,
                                          struct bytes dictionary,
                                          const atomic_bool *stops,
                                          struct codec_meter *meter)
{
    size_t room = text.len * COMPRESSOR_WORTH_PERCENT / 100 + DELTA_HEAD;
    struct coded_body *body = malloc(sizeof(*body) + room);
    struct codec_order order = {.text = text,
                                .dictionary = dictionary,
                                .effort = job->effort,
                                .stops = stops,
                                .meter = meter};
    enum codec_result result;
    size_t head;

    if (!body)
        return COMPRESSOR_JOB_FAILED;
    assert(codecs[job->coding]);
    codec_meter_add(meter, room);
    head = write_head(job, body->bytes);
    order.out = body->bytes + head;
    order.out_max = room - DELTA_HEAD;
    result = codecs[job->coding](&order);
    codec_meter_subtract(meter, room);
    if (result == CODEC_DONE) {
        job->body = finish_body(body, head + order.out_len);
        return COMPRESSOR_JOB_READY;
    }
    free(body);
    return result == CODEC_TOO_LARGE ? COMPRESSOR_JOB_HOPELESS
                                     : COMPRESSOR_JOB_FAILED;
}

/* Compresses text against the dictionary. A dictionary equal to the text gives
 * no delta. */
static enum compressor_job_state compress_delta(struct compressor_job *job,
                                                struct bytes text,
                                                const atomic_bool *stops,
                                                struct codec_meter *meter)
{
    char *read = dictionary_read(job->dictionary, job->dictionary_fd, stops,
                                 meter);
    struct bytes dictionary = {read, (size_t)job->dictionary->bytes};
    enum compressor_job_state state = COMPRESSOR_JOB_FAILED;

    if (read && bytes_eq(text, dictionary))
        state = COMPRESSOR_JOB_HOPELESS;
    else if (read)
        state = compress(job, text, dictionary, stops, meter);
    codec_meter_free(meter, read);
    return state;
}

enum compressor_job_state compressor_job_run(struct compressor_job *job,
                                             const atomic_bool *stops,
                                             struct codec_meter *meter)
{
    struct bytes text = {job->text, (size_t)job->stamp.bytes};
    enum compressor_job_state state;
    char *read = NULL;

    if (!job->text) {
        read = file_text_read(job->fd, &job->stamp, stops, meter);
        if (!read)
            return COMPRESSOR_JOB_FAILED;
        text.data = read;
    }
    state = job->dictionary
                ? compress_delta(job, text, stops, meter)
                : compress(job, text, (struct bytes){NULL, 0}, stops, meter);
    codec_meter_free(meter, read);
    return state;
}

/* --- Coming and going ---------------------------------------------------- */

/* Copies the order's text, or duplicates its descriptor. Returns false when
 * there is no memory or no descriptor. */
static bool take_text(struct compressor_job *job,
                      const struct compress_order *order)
{
    if (!order->text.data) {
        job->fd = fcntl(order->fd, F_DUPFD_CLOEXEC, 0);
        return job->fd >= 0;
    }
    assert(order->text.len == order->stamp.bytes &&
           order->text.len <= COMPRESSOR_TEXT_BYTES_MAX);
    job->text = malloc(order->text.len + 1); /* its length may be 0 */
    if (job->text)
        memcpy(job->text, order->text.data, order->text.len);
    return job->text;
}

static bool take_dictionary(struct compressor_job *job,
                            struct dictionary *dictionary)
{
    if (!dictionary)
        return true;
    job->dictionary_fd = dictionary_open(dictionary);
    if (job->dictionary_fd < 0)
        return false;
    dictionary_hold(dictionary);
    job->dictionary = dictionary;
    return true;
}

struct compressor_job *compressor_job_create(const struct compress_order *order)
{
    struct compressor_job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    list_init(&job->list_node);
    job->stamp = order->stamp;
    job->coding = order->coding;
    job->effort = order->effort;
    job->fd = job->dictionary_fd = -1;
    if (take_text(job, order) && take_dictionary(job, order->dictionary))
        return job;
    compressor_job_destroy(job);
    return NULL;
}

void compressor_job_drop_text(struct compressor_job *job)
{
    free(job->text);
    job->text = NULL;
    if (job->fd >= 0)
        close(job->fd);
    if (job->dictionary_fd >= 0)
        close(job->dictionary_fd);
    job->fd = job->dictionary_fd = -1;
}

void compressor_job_destroy(struct compressor_job *job)
{
    compressor_job_drop_text(job);
    dictionary_release(job->dictionary);
    coded_body_release(job->body);
    free(job);
}
