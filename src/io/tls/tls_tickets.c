#include "io/tls/tls_tickets_priv.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/base64.h"

enum { STATE_VERSION = 1, STATE_HEAD_BYTES = 16 };

struct tls_tickets {
    atomic_uint refs;
    pthread_mutex_t lock;
    uint64_t rotate_at_s;
    /* number of keys; 0: none was needed yet */
    size_t count;
    bool is_told;                                /* the keys come from a file */
    struct tls_ticket_key keys[TLS_TICKETS_MAX]; /* the newest first */
};

static_assert(sizeof(struct tls_ticket_key) == TLS_TICKET_KEY_BYTES,
              "a key is what a line of a file has");

/* --- Keys ---------------------------------------------------------------- */

static bool make_key(struct tls_ticket_key *key)
{
    return RAND_bytes(key->name, sizeof(key->name)) == 1 &&
           RAND_priv_bytes(key->mac, sizeof(key->mac)) == 1 &&
           RAND_priv_bytes(key->cipher, sizeof(key->cipher)) == 1;
}

/* Whether there is a key; the lock is held. The first key is made when it is
 * needed: a server without TLS needs no key, and none of what OpenSSL sets up
 * for one. */
static bool has_key(struct tls_tickets *tickets)
{
    if (tickets->count == 0 && make_key(&tickets->keys[0]))
        tickets->count = 1;
    return tickets->count > 0;
}

struct tls_tickets *tls_tickets_create(uint64_t now_s)
{
    struct tls_tickets *tickets = calloc(1, sizeof(*tickets));

    if (!tickets)
        return NULL;
    atomic_init(&tickets->refs, 1);
    pthread_mutex_init(&tickets->lock, NULL);
    tickets->rotate_at_s = now_s + TLS_TICKETS_ROTATE_S;
    return tickets;
}

struct tls_tickets *tls_tickets_acquire(struct tls_tickets *tickets)
{
    atomic_fetch_add_explicit(&tickets->refs, 1, memory_order_relaxed);
    return tickets;
}

void tls_tickets_release(struct tls_tickets **tickets_ref)
{
    struct tls_tickets *tickets = *tickets_ref;

    *tickets_ref = NULL;
    if (!tickets ||
        atomic_fetch_sub_explicit(&tickets->refs, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_destroy(&tickets->lock);
    OPENSSL_cleanse(tickets, sizeof(*tickets));
    free(tickets);
}

/* Whether the next key is due. If it seems due in more than
 * TLS_TICKETS_ROTATE_S, the clock was set back. Then it is due now, because the
 * present key would be used for too long. */
static bool is_due(const struct tls_tickets *tickets, uint64_t now_s)
{
    return now_s >= tickets->rotate_at_s ||
           tickets->rotate_at_s - now_s > TLS_TICKETS_ROTATE_S;
}

/* Makes at most one key, even if several were due while nobody called or the
 * machine slept: nobody would have used the others. */
uint64_t tls_tickets_tick(struct tls_tickets *tickets, uint64_t now_s)
{
    struct tls_ticket_key key = {.name = {0}};
    uint64_t left_s = TLS_TICKETS_ROTATE_S;

    pthread_mutex_lock(&tickets->lock);
    if (!tickets->is_told && !is_due(tickets, now_s)) {
        left_s = tickets->rotate_at_s - now_s;
    } else if (tickets->count == 0) {
        tickets->rotate_at_s = now_s + TLS_TICKETS_ROTATE_S;
    } else if (!tickets->is_told && make_key(&key)) {
        memmove(&tickets->keys[1], &tickets->keys[0],
                (TLS_TICKETS_KEPT - 1) * sizeof(key));
        tickets->keys[0] = key;
        if (tickets->count < TLS_TICKETS_KEPT)
            tickets->count++;
        tickets->rotate_at_s = now_s + TLS_TICKETS_ROTATE_S;
    }
    pthread_mutex_unlock(&tickets->lock);
    OPENSSL_cleanse(&key, sizeof(key));
    return left_s;
}

bool tls_tickets_take_newest(struct tls_tickets *tickets,
                             struct tls_ticket_key *key_out)
{
    bool is_there;

    pthread_mutex_lock(&tickets->lock);
    is_there = has_key(tickets);
    *key_out = tickets->keys[0];
    pthread_mutex_unlock(&tickets->lock);
    return is_there;
}

enum tls_ticket_age tls_tickets_find(struct tls_tickets *tickets,
                                     const unsigned char *name,
                                     struct tls_ticket_key *key_out)
{
    enum tls_ticket_age age = TLS_TICKET_UNKNOWN;

    pthread_mutex_lock(&tickets->lock);
    for (size_t i = 0; i < tickets->count && age == TLS_TICKET_UNKNOWN; i++) {
        if (memcmp(tickets->keys[i].name, name, TLS_TICKET_NAME_BYTES) != 0)
            continue;
        *key_out = tickets->keys[i];
        age = i == 0 ? TLS_TICKET_NEWEST : TLS_TICKET_OLD;
    }
    pthread_mutex_unlock(&tickets->lock);
    return age;
}

/* --- Keys of a file ------------------------------------------------------ */

static struct bytes take_line(struct bytes *text)
{
    const char *end = memchr(text->data, '\n', text->len);
    const char *behind = text->data + text->len;
    struct bytes line = bytes_between(text->data, end ? end : behind);

    *text = bytes_between(end ? end + 1 : behind, behind);
    return bytes_trim(line);
}

static bool read_key(struct bytes line, struct tls_ticket_key *key)
{
    char bytes[TLS_TICKET_KEY_BYTES + 3];
    size_t len = 0;
    bool is_key = line.len / 4 * 3 <= sizeof(bytes) &&
                  base64_decode(line, bytes, &len) &&
                  len == TLS_TICKET_KEY_BYTES;

    if (is_key)
        memcpy(key, bytes, sizeof(*key));
    OPENSSL_cleanse(bytes, sizeof(bytes));
    return is_key;
}

/* Whether a key before keys[number] has the same name. Then keys[number] would
 * never be found for a ticket. */
static bool is_named_before(const struct tls_ticket_key *keys, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (memcmp(keys[i].name, keys[number].name, TLS_TICKET_NAME_BYTES) == 0)
            return true;
    return false;
}

const char *tls_tickets_read(struct tls_tickets *tickets, struct bytes text)
{
    struct tls_ticket_key keys[TLS_TICKETS_MAX];
    const char *fault = NULL;
    size_t count = 0;

    while (text.len > 0 && !fault) {
        struct bytes line = take_line(&text);

        if (line.len == 0 || line.data[0] == '#')
            continue;
        if (count == TLS_TICKETS_MAX)
            fault = "has more than 8 keys";
        else if (!read_key(line, &keys[count]))
            fault = "has a line that is not 80 bytes in base64";
        else if (is_named_before(keys, count++))
            fault = "has two keys of one name (the first 16 bytes)";
    }
    if (!fault && count == 0)
        fault = "has no key in it";
    if (!fault) {
        pthread_mutex_lock(&tickets->lock);
        memcpy(tickets->keys, keys, count * sizeof(*keys));
        tickets->count = count;
        tickets->is_told = true;
        pthread_mutex_unlock(&tickets->lock);
    }
    OPENSSL_cleanse(keys, sizeof(keys));
    return fault;
}

/* --- State for another process ------------------------------------------- */

/* Writes the state: version (1 byte) | count (1) | unused (6) | when the next
 * key is made (8) | keys. */
size_t tls_tickets_save(struct tls_tickets *tickets,
                        char state[TLS_TICKETS_STATE_MAX])
{
    size_t count;

    memset(state, 0, STATE_HEAD_BYTES);
    pthread_mutex_lock(&tickets->lock);
    if (!has_key(tickets)) {
        pthread_mutex_unlock(&tickets->lock);
        return 0;
    }
    count = tickets->count < TLS_TICKETS_KEPT ? tickets->count
                                              : TLS_TICKETS_KEPT;
    state[0] = STATE_VERSION;
    state[1] = (char)count;
    memcpy(state + 8, &tickets->rotate_at_s, sizeof(tickets->rotate_at_s));
    memcpy(state + STATE_HEAD_BYTES, tickets->keys,
           count * sizeof(tickets->keys[0]));
    pthread_mutex_unlock(&tickets->lock);
    return STATE_HEAD_BYTES + count * sizeof(tickets->keys[0]);
}

bool tls_tickets_restore(struct tls_tickets *tickets, struct bytes state)
{
    size_t count = state.len > 1 ? (unsigned char)state.data[1] : 0;

    if (count < 1 || count > TLS_TICKETS_KEPT ||
        state.data[0] != STATE_VERSION ||
        state.len != STATE_HEAD_BYTES + count * sizeof(tickets->keys[0]))
        return false;
    pthread_mutex_lock(&tickets->lock);
    memcpy(&tickets->rotate_at_s, state.data + 8, sizeof(tickets->rotate_at_s));
    memcpy(tickets->keys, state.data + STATE_HEAD_BYTES,
           count * sizeof(tickets->keys[0]));
    tickets->count = count;
    pthread_mutex_unlock(&tickets->lock);
    return true;
}
