#include "files/dictionary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files/file_text.h"
#include "io/sha256.h"

/* --- Names --------------------------------------------------------------- */

void dictionary_write_name(struct dictionary *dictionary)
{
    char *to = dictionary->name;

    to += snprintf(to, DICTIONARY_NAME_SIZE, "%016llx-%016llx-",
                   (unsigned long long)dictionary->rule,
                   (unsigned long long)dictionary->modified_ns);
    for (size_t i = 0; i < DICTIONARY_HASH_BYTES; i++, to += 2)
        snprintf(to, 3, "%02x", dictionary->hash[i]);
}

/* Takes a hexadecimal number of exactly `digits` digits. Returns false when
 * there is none. */
static bool take_number(const char **at, size_t digits, uint64_t *number_out)
{
    uint64_t number = 0;

    for (; digits > 0; digits--, (*at)++) {
        char c = **at;

        if (byte_is_digit(c))
            number = number * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number * 16 + (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    *number_out = number;
    return true;
}

bool dictionary_read_name(struct dictionary *dictionary, const char *name)
{
    const char *at = name;
    uint64_t modified, byte;

    if (strlen(name) != DICTIONARY_NAME_SIZE - 1 ||
        !take_number(&at, 16, &dictionary->rule) || *at++ != '-' ||
        !take_number(&at, 16, &modified) || *at++ != '-')
        return false;
    for (size_t i = 0; i < DICTIONARY_HASH_BYTES; i++) {
        if (!take_number(&at, 2, &byte))
            return false;
        dictionary->hash[i] = (uint8_t)byte;
    }
    dictionary->modified_ns = (int64_t)modified;
    memcpy(dictionary->name, name, DICTIONARY_NAME_SIZE);
    return true;
}

/* --- References ---------------------------------------------------------- */

void dictionary_hold(struct dictionary *dictionary)
{
    atomic_fetch_add_explicit(&dictionary->refs, 1, memory_order_relaxed);
}

void dictionary_release(struct dictionary *dictionary)
{
    if (dictionary && atomic_fetch_sub_explicit(&dictionary->refs, 1,
                                                memory_order_acq_rel) == 1)
        free(dictionary);
}

/* --- Bytes --------------------------------------------------------------- */

static void condemn(struct dictionary *dictionary)
{
    atomic_store_explicit(&dictionary->is_damaged, true, memory_order_relaxed);
}

int dictionary_open(struct dictionary *dictionary)
{
    int fd = openat(dictionary->folder, dictionary->name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd >= 0)
        return fd;
    if (errno == ENOENT)
        condemn(dictionary);
    return -errno;
}

/* Makes the stamp of the open file. Returns false when the file no longer has
 * the length that it had when it was kept. */
static bool stamp_of(const struct dictionary *dictionary, int fd,
                     struct file_stamp *stamp_out)
{
    struct stat st;

    if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
        return false;
    *stamp_out = file_stamp_of(&st);
    return stamp_out->bytes == dictionary->bytes;
}

char *dictionary_read(struct dictionary *dictionary, int fd,
                      const atomic_bool *stops, struct codec_meter *meter)
{
    uint8_t hash[DICTIONARY_HASH_BYTES];
    struct file_stamp stamp;
    char *text;

    if (!stamp_of(dictionary, fd, &stamp)) {
        condemn(dictionary);
        return NULL;
    }
    text = file_text_read(fd, &stamp, stops, meter);
    if (!text)
        return NULL;
    if (sha256((struct bytes){text, (size_t)dictionary->bytes}, hash)) {
        if (memcmp(hash, dictionary->hash, sizeof(hash)) == 0)
            return text;
        condemn(dictionary);
    } /* without memory, the hash stays unknown */
    codec_meter_free(meter, text);
    return NULL;
}
