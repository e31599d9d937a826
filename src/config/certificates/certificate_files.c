#include "config/certificates/certificate_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/siphash.h"
#include "io/small_file.h"
#include "io/tls/tls_authority.h"

/* --- Marks --------------------------------------------------------------- */

void file_mark_set(struct file_mark *mark, const char *path,
                   const struct stat *st)
{
    *mark = (struct file_mark){.path = path,
                               .device = st->st_dev,
                               .inode = st->st_ino,
                               .bytes = (uint64_t)st->st_size,
                               .changed = st->st_mtim};
}

bool file_mark_is_old(const struct file_mark *mark)
{
    struct stat st;

    return mark->path && stat(mark->path, &st) == 0 &&
           (st.st_dev != mark->device || st.st_ino != mark->inode ||
            (uint64_t)st.st_size != mark->bytes ||
            st.st_mtim.tv_sec != mark->changed.tv_sec ||
            st.st_mtim.tv_nsec != mark->changed.tv_nsec);
}

static const struct file_mark *next_mark(const struct certificate_files *files,
                                         const struct file_mark *mark)
{
    for (const struct certificate_pair *pair = files->pairs; pair;
         pair = pair->next) {
        if (!mark)
            return &pair->chain;
        if (mark == &pair->chain)
            return &pair->key;
        if (mark == &pair->key)
            mark = NULL;
    }
    for (const struct certificate_authority *authority = files->authorities;
         authority; authority = authority->next) {
        if (!mark)
            return &authority->mark;
        if (mark == &authority->mark)
            mark = NULL;
    }
    return mark ? NULL : &files->tickets.mark;
}

bool certificate_files_are_old(const struct certificate_files *files)
{
    const struct file_mark *mark = NULL;

    while ((mark = next_mark(files, mark)))
        if (file_mark_is_old(mark))
            return true;
    return false;
}

uint64_t certificate_files_look(const struct certificate_files *files)
{
    static const struct siphash_key key; /* this key need not be secret */
    const struct file_mark *mark = NULL;
    uint64_t look = 0;

    while ((mark = next_mark(files, mark))) {
        uint64_t seen[6] = {look};
        struct stat st;

        if (mark->path && stat(mark->path, &st) == 0) {
            seen[1] = st.st_dev;
            seen[2] = st.st_ino;
            seen[3] = (uint64_t)st.st_size;
            seen[4] = (uint64_t)st.st_mtim.tv_sec;
            seen[5] = (uint64_t)st.st_mtim.tv_nsec;
        }
        look = siphash_of(&key,
                          (struct bytes){(const char *)seen, sizeof(seen)})
                   .words[0];
    }
    return look;
}

const char *certificate_files_find_closed(const struct certificate_files *files)
{
    const struct file_mark *mark = NULL;

    while ((mark = next_mark(files, mark)))
        if (mark->path &&
            faccessat(AT_FDCWD, mark->path, R_OK, AT_EACCESS) == -1 &&
            errno == EACCES)
            return mark->path;
    return NULL;
}

/* --- Reading ------------------------------------------------------------- */

static bool is_forbidden(int err)
{
    return err == -EACCES || err == -EPERM;
}

static int explain(int err, char fault[TLS_FAULT_MAX])
{
    const char *words = small_file_fault(err);

    if (words)
        snprintf(fault, TLS_FAULT_MAX, "%s", words);
    else
        snprintf(fault, TLS_FAULT_MAX, "cannot be read: %s", strerror(-err));
    return err;
}

static struct certificate_pair *find_pair(const struct certificate_files *files,
                                          const char *chain, const char *key)
{
    struct certificate_pair *pair = files ? files->pairs : NULL;

    while (pair && (strcmp(pair->chain.path, chain) != 0 ||
                    strcmp(pair->key.path, key) != 0))
        pair = pair->next;
    return pair;
}

static int read_pair(struct certificate_pair *pair, const char *chain,
                     const char *key, const char **path_out,
                     char fault[TLS_FAULT_MAX])
{
    struct small_file texts[2] = {{0}};
    bool is_one = strcmp(chain, key) == 0;
    int err = small_file_read(&texts[0], *path_out = chain);

    if (err != 0)
        return explain(err, fault);
    file_mark_set(&pair->chain, chain, &texts[0].seen);
    pair->key = pair->chain;
    if (!is_one && (err = small_file_read(&texts[1], *path_out = key)) == 0)
        file_mark_set(&pair->key, key, &texts[1].seen);
    if (err == 0) {
        const struct small_file *of_key = &texts[is_one ? 0 : 1];

        *path_out = chain;
        err = tls_certificate_create(&pair->certificate,
                                     (struct bytes){texts[0].text,
                                                    texts[0].len},
                                     (struct bytes){of_key->text, of_key->len},
                                     fault);
    } else {
        explain(err, fault);
    }
    small_file_fini(&texts[0]);
    small_file_fini(&texts[1]);
    return err;
}

static void keep_pair(struct certificate_pair *pair, const char *chain,
                      const char *key, const struct certificate_pair *before)
{
    pair->chain = before->chain;
    pair->key = before->key;
    pair->chain.path = chain;
    pair->key.path = key;
    pair->certificate = tls_certificate_acquire(before->certificate);
    pair->is_kept = true;
}

int certificate_files_read_pair(struct certificate_files *files,
                                const struct certificate_files *before,
                                const char *chain, const char *key,
                                struct certificate_pair **pair_out,
                                const char **path_out,
                                char fault[TLS_FAULT_MAX])
{
    struct certificate_pair *pair = find_pair(files, chain, key);
    const struct certificate_pair *old = find_pair(before, chain, key);
    int err;

    *pair_out = pair;
    *path_out = chain;
    if (pair)
        return 0;
    pair = calloc(1, sizeof(*pair));
    if (!pair)
        return -ENOMEM;
    err = read_pair(pair, chain, key, path_out, fault);
    if (is_forbidden(err) && old) {
        keep_pair(pair, chain, key, old);
        err = 0;
    }
    if (err != 0) {
        free(pair);
        return err;
    }
    pair->next = files->pairs;
    files->pairs = *pair_out = pair;
    return 0;
}

/* --- Managed certificates ------------------------------------------------ */

/* Makes a placeholder for names, signed by a new authority that is then
 * forgotten. Returns 0 or -ENOMEM. */
static int make_placeholder(struct certificate_pair *pair,
                            const struct tls_names *names)
{
    int64_t now_s = time(NULL);
    struct tls_authority *authority = tls_authority_create("placeholder",
                                                           now_s);
    struct tls_pem pem = {0};
    char fault[TLS_FAULT_MAX];
    int err = authority ? tls_authority_sign(authority, names, now_s, &pem)
                        : -ENOMEM;

    if (err == 0)
        err = tls_certificate_create(&pair->certificate,
                                     (struct bytes){pem.text, pem.len},
                                     (struct bytes){pem.text, pem.len}, fault);
    tls_pem_fini(&pem);
    tls_authority_destroy(authority);
    pair->is_placeholder = true;
    return err == 0 ? 0 : -ENOMEM;
}

int certificate_files_read_managed(struct certificate_files *files,
                                   const struct certificate_files *before,
                                   const char *path,
                                   const struct tls_names *names,
                                   struct certificate_pair **pair_out,
                                   char fault[TLS_FAULT_MAX])
{
    const struct certificate_pair *old = find_pair(before, path, path);
    struct certificate_pair *pair = calloc(1, sizeof(*pair));
    const char *at;
    int err;

    fault[0] = '\0';
    if (!pair)
        return -ENOMEM;
    err = read_pair(pair, path, path, &at, fault);
    if (err == -ENOENT)
        fault[0] = '\0';
    pair->chain.path = pair->key.path = path;
    if (err != 0 && old && !old->is_placeholder)
        pair->certificate = tls_certificate_acquire(old->certificate);
    else if (err != 0 && make_placeholder(pair, names) != 0) {
        free(pair);
        return -ENOMEM;
    }
    pair->next = files->pairs;
    files->pairs = *pair_out = pair;
    return 0;
}

/* --- Authorities of clients ---------------------------------------------- */

static struct certificate_authority *find_authority(
    const struct certificate_files *files, const char *path)
{
    struct certificate_authority *authority = files ? files->authorities : NULL;

    while (authority && strcmp(authority->mark.path, path) != 0)
        authority = authority->next;
    return authority;
}

static int read_authority(struct certificate_authority *authority,
                          const char *path, char fault[TLS_FAULT_MAX])
{
    struct small_file file;
    int err = small_file_read(&file, path);

    if (err != 0)
        return explain(err, fault);
    file_mark_set(&authority->mark, path, &file.seen);
    authority->text = strndup(file.text, file.len);
    small_file_fini(&file);
    return authority->text ? 0 : -ENOMEM;
}

int certificate_files_read_authority(
    struct certificate_files *files, const struct certificate_files *before,
    const char *path, struct certificate_authority **authority_out,
    char fault[TLS_FAULT_MAX])
{
    struct certificate_authority *authority = find_authority(files, path);
    const struct certificate_authority *old = find_authority(before, path);
    int err;

    *authority_out = authority;
    if (authority)
        return 0;
    authority = calloc(1, sizeof(*authority));
    if (!authority)
        return -ENOMEM;
    err = read_authority(authority, path, fault);
    if (is_forbidden(err) && old) {
        authority->mark = old->mark;
        authority->mark.path = path;
        authority->text = strdup(old->text);
        authority->is_kept = true;
        err = authority->text ? 0 : -ENOMEM;
    }
    if (err != 0) {
        free(authority);
        return err;
    }
    authority->next = files->authorities;
    files->authorities = *authority_out = authority;
    return 0;
}

/* --- Keys of tickets ----------------------------------------------------- */

static int read_tickets(struct ticket_file *tickets, const char *path,
                        char fault[TLS_FAULT_MAX])
{
    struct small_file file;
    const char *words = NULL;
    int err = small_file_read(&file, path);

    if (err != 0)
        return explain(err, fault);
    file_mark_set(&tickets->mark, path, &file.seen);
    tickets->tickets = tls_tickets_create(0);
    if (!tickets->tickets)
        err = -ENOMEM;
    else if (file.seen.st_mode & (S_IWGRP | S_IRWXO))
        words = "is open to more than its owner and, for reading, its group: "
                "chmod 0640";
    else
        words = tls_tickets_read(tickets->tickets,
                                 (struct bytes){file.text, file.len});
    small_file_fini(&file);
    if (words) {
        snprintf(fault, TLS_FAULT_MAX, "%s", words);
        err = -EINVAL;
    }
    return err;
}

int certificate_files_read_tickets(struct certificate_files *files,
                                   const struct certificate_files *before,
                                   const char *path, char fault[TLS_FAULT_MAX])
{
    const struct ticket_file *old = before ? &before->tickets : NULL;
    int err = read_tickets(&files->tickets, path, fault);

    if (!is_forbidden(err) || !old || !old->mark.path ||
        strcmp(old->mark.path, path) != 0)
        return err;
    files->tickets = *old;
    files->tickets.mark.path = path;
    files->tickets.tickets = tls_tickets_acquire(old->tickets);
    files->tickets.is_kept = true;
    return 0;
}

void certificate_files_fini(struct certificate_files *files)
{
    while (files->pairs) {
        struct certificate_pair *pair = files->pairs;

        files->pairs = pair->next;
        tls_certificate_release(&pair->certificate);
        free(pair);
    }
    while (files->authorities) {
        struct certificate_authority *authority = files->authorities;

        files->authorities = authority->next;
        free(authority->text);
        free(authority);
    }
    tls_tickets_release(&files->tickets.tickets);
}
