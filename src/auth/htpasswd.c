#include "auth/htpasswd.h"

#include <crypt.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "auth/htpasswd_priv.h"
#include "base/log.h"
#include "base/now.h"
#include "base/siphash.h"
#include "base/units.h"
#include "io/small_file.h"

enum { COMPLAIN_MS = 60000 };

/* The content of the password file, as it was last read. */
struct password_file {
    struct small_file file;
    struct htpasswd_user *users; /* their texts point into `file` */
    size_t user_count;
};

struct htpasswd {
    atomic_uint refs;
    char *path;
    struct siphash_key secret; /* chooses a hash for unknown users */
    _Atomic uint64_t generation;
    _Atomic uint64_t next_look_ms;
    pthread_mutex_t mutex; /* guards `content`; held only briefly */
    struct password_file content;
    /* A mutex that a thread holds while it reads the file. It is locked before
     * `mutex`, and guards the two members below. */
    pthread_mutex_t reading;
    struct stat judged; /* the file when it was last looked at */
    /* Limits log lines about a file that is missing or cannot be read. */
    struct log_limit faults;
};

static atomic_uint_fast64_t last_generation;

/* --- Reading the file ----------------------------------------------------- */

static void content_fini(struct password_file *content)
{
    small_file_fini(&content->file);
    free(content->users);
}

/* Reads the users into a table that is exactly large enough. */
static int read_users(struct password_file *content,
                      struct htpasswd_fault *fault_out)
{
    struct htpasswd_user *users, *fewer;
    int count;

    users = calloc(HTPASSWD_USERS_MAX, sizeof(*users));
    if (!users)
        return -ENOMEM;
    count = htpasswd_parse((struct bytes){content->file.text,
                                          content->file.len},
                           users, fault_out);
    if (count < 0) {
        free(users);
        return -EINVAL;
    }
    fewer = realloc(users, (size_t)(count + 1) * sizeof(*users));
    content->users = fewer ? fewer : users;
    content->user_count = (size_t)count;
    return 0;
}

/* Reads the file. A program that is writing the file at this time may have
 * written only a part; its next write changes the file, which is read again. */
static int content_read(struct password_file *content, const char *path,
                        struct htpasswd_fault *fault_out)
{
    int err;

    *content = (struct password_file){.user_count = 0};
    err = small_file_read(&content->file, path);
    *fault_out = (struct htpasswd_fault){0, small_file_fault(err)};
    if (err != 0)
        return fault_out->text ? -EINVAL : err;
    err = read_users(content, fault_out);
    if (err != 0)
        content_fini(content);
    return err;
}

/* --- Changes -------------------------------------------------------------- */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

uint64_t htpasswd_generation(const struct htpasswd *htpasswd)
{
    return atomic_load(&htpasswd->generation);
}

bool htpasswd_is_due(struct htpasswd *htpasswd, uint64_t now_ms)
{
    uint64_t next = atomic_load_explicit(&htpasswd->next_look_ms,
                                         memory_order_relaxed);

    return now_ms >= next &&
           atomic_compare_exchange_strong(&htpasswd->next_look_ms, &next,
                                          now_ms + HTPASSWD_LOOK_MS);
}

/* Replaces the old content by the new one. The generation changes last, so that
 * no result with the new generation comes from the old content. */
static void take_over(struct htpasswd *htpasswd, struct password_file *content)
{
    struct password_file old;

    pthread_mutex_lock(&htpasswd->mutex);
    old = htpasswd->content;
    htpasswd->content = *content;
    atomic_store(&htpasswd->generation,
                 atomic_fetch_add(&last_generation, 1) + 1);
    pthread_mutex_unlock(&htpasswd->mutex);
    content_fini(&old);
}

static void refresh(struct htpasswd *htpasswd)
{
    struct htpasswd_fault fault = {0, ""};
    struct password_file content;
    uint64_t silent;
    struct stat now = {0}; /* equals no existing file */
    int err = stat(htpasswd->path, &now) == -1 ? -errno : 0;

    if (is_same_file(&now, &htpasswd->judged))
        return; /* the file, or its absence, has not changed */
    htpasswd->judged = now;
    if (err == 0)
        err = content_read(&content, htpasswd->path, &fault);
    if (err == 0) {
        /* The state of the file that was read; stat(2) may have seen an older
         * file. */
        htpasswd->judged = content.file.seen;
        take_over(htpasswd, &content);
        log_notice("passwords '%s': read anew", htpasswd->path);
    } else if (err == -EINVAL && fault.line == 0) {
        log_error("passwords '%s': %s; the old ones stay", htpasswd->path,
                  fault.text);
    } else if (err == -EINVAL) {
        log_error("passwords '%s': line %u: %s; the old ones stay",
                  htpasswd->path, fault.line, fault.text);
    } else {
        if (htpasswd->judged.st_ino != 0)
            htpasswd->judged.st_size = -1; /* so that the file is read again */
        if (log_limit_allows(&htpasswd->faults, now_read_ns() / NS_PER_MS,
                             COMPLAIN_MS, &silent))
            log_error("passwords '%s': %s; the old ones stay", htpasswd->path,
                      strerror(-err));
    }
}

void htpasswd_refresh(struct htpasswd *htpasswd)
{
    pthread_mutex_lock(&htpasswd->reading);
    refresh(htpasswd);
    pthread_mutex_unlock(&htpasswd->reading);
}

/* --- Checking ------------------------------------------------------------- */

/* A bcrypt hash that no password has: no password is hashed to 31 dots. */
static const char nobody[] = "$2y$10$......................"
                             "...............................";

_Static_assert(sizeof(nobody) - 1 == 60, "bcrypt's length");

/* Finds the hash to check a password with, and returns whether `user` exists.
 * An unknown user gets the hash of a known user, always the same one, so that
 * the check takes as long as for a known user. */
static bool find_hash(struct htpasswd *htpasswd, struct bytes user,
                      char hash_out[HTPASSWD_HASH_BYTES_MAX + 1])
{
    struct siphash lot = siphash_of(&htpasswd->secret, user);
    struct htpasswd_user wanted = {.name = user};
    const struct password_file *content = &htpasswd->content;
    struct bytes hash = BYTES(nobody);
    const struct htpasswd_user *found = NULL;

    pthread_mutex_lock(&htpasswd->mutex);
    if (content->user_count > 0) {
        found = bsearch(&wanted, content->users, content->user_count,
                        sizeof(*content->users), htpasswd_compare_users);
        hash = (found ? found
                      : &content->users[lot.words[0] % content->user_count])
                   ->hash;
    }
    memcpy(hash_out, hash.data, hash.len);
    hash_out[hash.len] = '\0';
    pthread_mutex_unlock(&htpasswd->mutex);
    return found != NULL;
}

/* Compares in a time that does not depend on where the first difference is. */
static bool is_equal(const char *a, const char *b)
{
    size_t len = strlen(a);
    unsigned difference = 0;

    if (strlen(b) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

bool htpasswd_check(struct htpasswd *htpasswd, struct bytes user,
                    struct bytes password)
{
    char hash[HTPASSWD_HASH_BYTES_MAX + 1];
    char phrase[HTPASSWD_PASSWORD_BYTES_MAX + 1];
    struct crypt_data data; /* 32 KiB; crypt_rn(3) wipes all but data.output */
    const char *made;
    bool is_user, is_right;

    if (password.len > HTPASSWD_PASSWORD_BYTES_MAX ||
        memchr(password.data, '\0', password.len))
        return false;
    memcpy(phrase, password.data, password.len);
    phrase[password.len] = '\0';
    is_user = find_hash(htpasswd, user, hash);
    data.initialized = 0;
    made = crypt_rn(phrase, hash, &data, sizeof(data));
    is_right = made && is_equal(made, hash) && is_user;
    if (!made)
        log_error("passwords '%s': crypt: %s", htpasswd->path, strerror(errno));
    explicit_bzero(phrase, sizeof(phrase));
    explicit_bzero(&data, sizeof(data));
    return is_right;
}

/* --- Opening and closing -------------------------------------------------- */

int htpasswd_open(struct htpasswd **htpasswd_out, const char *path,
                  struct htpasswd_fault *fault_out)
{
    struct htpasswd *htpasswd = calloc(1, sizeof(*htpasswd));
    int err = -ENOMEM;

    if (!htpasswd)
        return -ENOMEM;
    htpasswd->path = strdup(path);
    if (!htpasswd->path)
        goto free_htpasswd;
    err = siphash_make_key(&htpasswd->secret);
    if (err == 0)
        err = content_read(&htpasswd->content, path, fault_out);
    if (err != 0)
        goto free_path;
    htpasswd->judged = htpasswd->content.file.seen;
    atomic_init(&htpasswd->refs, 1);
    atomic_init(&htpasswd->next_look_ms, 0);
    atomic_init(&htpasswd->generation,
                atomic_fetch_add(&last_generation, 1) + 1);
    pthread_mutex_init(&htpasswd->mutex, NULL);
    pthread_mutex_init(&htpasswd->reading, NULL);
    *htpasswd_out = htpasswd;
    return 0;

free_path:
    free(htpasswd->path);
free_htpasswd:
    free(htpasswd);
    return err;
}

struct htpasswd *htpasswd_acquire(struct htpasswd *htpasswd)
{
    atomic_fetch_add_explicit(&htpasswd->refs, 1, memory_order_relaxed);
    return htpasswd;
}

void htpasswd_release(struct htpasswd **htpasswd_ref)
{
    struct htpasswd *htpasswd = *htpasswd_ref;

    *htpasswd_ref = NULL;
    if (!htpasswd || atomic_fetch_sub(&htpasswd->refs, 1) != 1)
        return;
    pthread_mutex_destroy(&htpasswd->mutex);
    pthread_mutex_destroy(&htpasswd->reading);
    content_fini(&htpasswd->content);
    free(htpasswd->path);
    free(htpasswd);
}
