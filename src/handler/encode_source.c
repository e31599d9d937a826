#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "handler/encode_priv.h"
#include "http/head_edit.h"

enum { OUT_BYTES = 16384, IN_BYTES = 16384 /* bytes pulled at once */ };

/*
 * Bytes lie in three places: in `in`, as a piece of `inner` that is not
 * compressed yet; in the compressor; in `out`, until they are handed out.
 */
struct coded_source {
    /* Must be the first member, since it is cast to struct coded_source. */
    struct source source;
    struct encoder *encoder;
    struct exchange *exchange; /* is woken when a turn begins */
    struct source *inner;      /* NULL: the whole body lies in `in` */
    struct codec_stream *codec;
    unsigned cost;       /* bytes of a turn that one byte of input uses up */
    struct list stalled; /* linked into the encoder while the source waits */
    struct bytes in;
    char *read; /* memory for pieces from files; NULL before the first one */
    struct bytes trailer;
    enum piece_state state; /* what `inner` has to give after the bytes `in` */
    bool has_ended;         /* the compressor has put out everything */
    char out[OUT_BYTES];
};

static const codec_stream_fn codecs[CODING_COUNT] = {
    [CODING_GZIP] = codec_gzip_stream,
    [CODING_ZSTD] = codec_zstd_stream,
    [CODING_BR] = codec_brotli_stream};

const struct bytes encode_digests[ENCODE_DIGESTS] = {{"Content-Digest", 14},
                                                     {"Repr-Digest", 11},
                                                     {"Digest", 6},
                                                     {"Content-MD5", 11}};

/* --- The next piece ------------------------------------------------------ */

static void stall(struct coded_source *coded)
{
    struct encoder *encoder = coded->encoder;

    if (list_is_empty(&encoder->stalled))
        encoder->turn(encoder->context);
    if (list_is_empty(&coded->stalled))
        list_put_last(&encoder->stalled, &coded->stalled);
}

/* Reads some bytes of `part`, behind `len` bytes that were read already. A file
 * is read at an offset; a pipe gives its next bytes. */
static ssize_t read_some(const struct part *part, char *to, size_t len)
{
    return part->kind == PART_PIPE
               ? read(part->fd, to + len, (size_t)part->len - len)
               : pread(part->fd, to + len, (size_t)part->len - len,
                       (off_t)(part->at.offset + len));
}

/* Reads a part of a file or pipe. Returns false if some of its bytes are
 * missing, or when there is no memory. */
static bool read_part(struct coded_source *coded, const struct part *part)
{
    size_t len = 0;

    if (!coded->read)
        coded->read = malloc(IN_BYTES);
    while (coded->read && len < part->len) {
        ssize_t n = read_some(part, coded->read, len);

        if (n > 0)
            len += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return false;
    }
    coded->in = (struct bytes){coded->read, len};
    return coded->read;
}

static bool take_part(struct coded_source *coded, const struct part *part)
{
    switch (part->kind) {
    case PART_MEMORY:
        coded->in = (struct bytes){part->at.memory, (size_t)part->len};
        return true;
    case PART_SENDFILE:
    case PART_READ:
    case PART_PIPE:
        return read_part(coded, part);
    }
    return false;
}

static bool has_digest(struct bytes trailer)
{
    for (size_t i = 0; i < ENCODE_DIGESTS; i++)
        if (head_find(trailer, 0, encode_digests[i]).data)
            return true;
    return false;
}

/* Pulls a piece of `inner`. Returns false if `inner` has failed, or if its
 * piece cannot be read. */
static bool pull_inner(struct coded_source *coded)
{
    struct piece piece = coded->inner->next(coded->inner, IN_BYTES);

    coded->state = piece.state;
    coded->trailer = has_digest(piece.trailer) ? BYTES("") : piece.trailer;
    return piece.state != PIECE_FAILED && take_part(coded, &piece.part);
}

static enum codec_flush flush_of(const struct coded_source *coded, size_t taken)
{
    if (taken < coded->in.len)
        return CODEC_GO_ON;
    switch (coded->state) {
    case PIECE_END:
        return CODEC_END;
    case PIECE_LATER:
        return CODEC_FLUSH;
    case PIECE_MORE:
    case PIECE_FAILED:
        break;
    }
    return CODEC_GO_ON;
}

/* Returns how many bytes the source may still take in this turn. */
static uint64_t turn_left(const struct coded_source *coded)
{
    return coded->encoder->turn_left / coded->cost;
}

/* Compresses as much of `in` as this turn allows. Returns false when there is
 * no memory. */
static bool compress(struct coded_source *coded, struct codec_step *step)
{
    struct encoder *encoder = coded->encoder;
    size_t most = coded->in.len < turn_left(coded) ? coded->in.len
                                                   : (size_t)turn_left(coded);
    enum codec_flush flush = flush_of(coded, most);
    size_t room = step->room, taken;

    step->in = (struct bytes){coded->in.data, most};
    if (!coded->codec->step(coded->codec, step, flush))
        return false;
    taken = most - step->in.len;
    coded->in.data += taken;
    coded->in.len -= taken;
    coded->has_ended = flush == CODEC_END && step->room > 0;
    encoder->turn_left -= taken * coded->cost;
    encoder->counts.bytes_in += taken;
    encoder->counts.bytes_out += room - step->room;
    return true;
}

/* Whether `inner` must be pulled before more bytes can come out. */
static bool is_hungry(const struct coded_source *coded,
                      const struct codec_step *step)
{
    return coded->in.len == 0 && coded->state == PIECE_MORE && step->room > 0;
}

static struct piece piece_of(const struct coded_source *coded,
                             const struct codec_step *step, size_t room)
{
    struct bytes text = {coded->out, room - step->room};
    struct piece piece = {.state = PIECE_MORE, .part = part_of_memory(text)};

    if (coded->has_ended) {
        piece.state = PIECE_END;
        piece.trailer = coded->trailer;
    } else if (coded->in.len == 0 && coded->state == PIECE_LATER &&
               step->room > 0) {
        piece.state = PIECE_LATER;
    }
    return piece;
}

/* Compresses until `out` is full, `inner` has nothing more for now, or the
 * turn's bytes are used up. If `inner` gives few bytes at a time, it is pulled
 * several times for one piece. If it gives none, although it will have more, it
 * has used its share of time, and other connections go on meanwhile. */
static struct piece next(struct source *source, uint64_t at_most)
{
    struct coded_source *coded = (struct coded_source *)source;
    size_t room = at_most < OUT_BYTES ? (size_t)at_most : OUT_BYTES;
    struct codec_step step = {.out = coded->out, .room = room};
    struct piece piece;

    if (coded->state == PIECE_LATER && coded->in.len == 0)
        coded->state = PIECE_MORE; /* `inner` has woken the exchange since */
    do {
        if (is_hungry(coded, &step)) {
            if (!pull_inner(coded))
                return (struct piece){.state = PIECE_FAILED};
            if (coded->in.len == 0 && coded->state == PIECE_MORE)
                break;
        }
        if (turn_left(coded) == 0 && coded->in.len > 0) {
            stall(coded);
            break;
        }
        if (!compress(coded, &step))
            return (struct piece){.state = PIECE_FAILED};
    } while (!coded->has_ended && step.room > 0 &&
             (coded->in.len > 0 || coded->state == PIECE_MORE));
    piece = piece_of(coded, &step, room);
    if (!list_is_empty(&coded->stalled)) {
        piece.state = PIECE_LATER;
        piece.is_paused = true;
    }
    return piece;
}

/* --- Coming and going ---------------------------------------------------- */

/* The bytes of the last piece of `inner` may not be compressed yet, although
 * all that has come out is sent. */
static void settle(struct source *source)
{
    struct coded_source *coded = (struct coded_source *)source;
    struct source *inner = coded->inner;

    if (inner && inner->settle && coded->in.len == 0)
        inner->settle(inner);
}

static void destroy(struct source *source)
{
    struct coded_source *coded = (struct coded_source *)source;

    list_drop(&coded->stalled);
    coded->encoder->streams--;
    coded->codec->destroy(coded->codec);
    if (coded->inner)
        coded->inner->destroy(coded->inner);
    free(coded->read);
    free(coded);
}

struct coded_source *coded_source_create(struct encoder *encoder,
                                         struct exchange *exchange,
                                         enum coding coding)
{
    struct coded_source *coded = NULL;

    if (encoder->streams < encoder->streams_max)
        coded = malloc(sizeof(*coded));
    if (coded) {
        coded->codec = codecs[coding](&encoder->meter);
        if (coded->codec) {
            coded->source = (struct source){
                .next = next, .destroy = destroy, .settle = settle};
            coded->encoder = encoder;
            coded->cost = coding == CODING_GZIP ? ENCODER_GZIP_COST : 1;
            coded->exchange = exchange;
            coded->inner = NULL;
            coded->read = NULL;
            list_init(&coded->stalled);
            coded->in = coded->trailer = BYTES("");
            coded->state = PIECE_MORE;
            coded->has_ended = false;
            encoder->streams++;
            encoder->counts.streams++;
            return coded;
        }
        free(coded);
    }
    encoder->counts.refused++;
    return NULL;
}

struct source *coded_source_begin(struct coded_source *coded,
                                  struct source *inner)
{
    coded->inner = inner;
    coded->source.bytes = inner->bytes;
    return &coded->source;
}

struct source *coded_source_begin_with(struct coded_source *coded,
                                       struct bytes body)
{
    coded->in = body;
    coded->state = PIECE_END;
    return &coded->source;
}

/* --- Turns --------------------------------------------------------------- */

void encoder_init(struct encoder *encoder, size_t streams_max,
                  void (*turn)(void *context), void *context)
{
    *encoder = (struct encoder){.streams_max = streams_max,
                                .turn_left = ENCODER_TURN_BYTES,
                                .turn = turn,
                                .context = context};
    list_init(&encoder->stalled);
}

void encoder_turn(struct encoder *encoder)
{
    encoder->turn_left = ENCODER_TURN_BYTES;
    while (!list_is_empty(&encoder->stalled)) {
        struct coded_source *coded = OWNER_OF(encoder->stalled.next,
                                              struct coded_source, stalled);

        list_drop(&coded->stalled);
        exchange_wake(coded->exchange);
    }
}
