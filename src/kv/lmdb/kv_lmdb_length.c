#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "base/read_at.h"
#include "kv/lmdb/kv_lmdb_priv.h"

/*
 * LMDB's own functions read the map. A page that the file lacks would raise
 * SIGBUS, and a zeroed page may fail an assertion of LMDB; both would end the
 * server. So this file reads the lists of free pages from data.mdb, in LMDB
 * 0.9's layout for 64-bit machines:
 *
 *   page   number (8 bytes), pad, flags, lower, upper (2 each), node offsets
 *   node   low, high, flags, bytes of the key (2 each), key, data
 *          (in branch nodes, which have no data, low, high and flags are the
 *          number of the page below; in leaf nodes, low and high are the
 *          length of data, and a flag says that the data lies in pages of its
 *          own, behind a head of 16 bytes)
 *   meta   struct meta, behind a head of 16 bytes
 *
 * The free pages are in a tree, whose values are lists: a count, then the
 * pages' numbers. A list may be followed by unused space with any content.
 */
enum {
    HEAD_BYTES = 16,
    METAS = 2,
    DEPTH_MAX = 32, /* LMDB's own limit */
    PAGE_BYTES_MAX = 32768,
    NUMBERS = 512, /* page numbers that are read at a time */
    BRANCH = 1,
    LEAF = 2,
    IN_PAGES = 1,
    FORMAT = 1
};

#define MAGIC UINT32_C(0xBEEFC0DE)
#define NO_PAGE UINT64_MAX

struct meta {
    uint32_t magic;
    uint32_t format;
    uint64_t address;
    uint64_t map_bytes;
    struct {
        uint32_t pad;
        uint16_t flags;
        uint16_t depth;
        uint64_t counts[4];
        uint64_t root;
    } trees[2]; /* the tree of free pages; the tree of databases */
    uint64_t last_page;
    uint64_t txnid;
};

struct page_head {
    uint64_t number;
    uint16_t pad;
    uint16_t flags;
    uint16_t lower;
    uint16_t upper;
};

struct node {
    uint16_t low;
    uint16_t high;
    uint16_t flags;
    uint16_t key_bytes;
};

/* A walk over the lists of free pages. */
struct free_walk {
    int fd;
    size_t page_bytes;
    uint64_t first; /* the first page to be counted */
    uint64_t last;
    uint64_t found;
    /* limits the walk, since a damaged tree may be endless */
    uint64_t looks_left;
};

/* Counts the pages of a list that are from walk->first to walk->last. Returns
 * false if the list cannot be read. */
static bool walk_list(struct free_walk *walk, uint64_t at, uint64_t bytes)
{
    uint64_t numbers[NUMBERS];
    uint64_t left;

    if (bytes < sizeof(left) || !read_at(walk->fd, &left, sizeof(left), at) ||
        left > bytes / sizeof(left) - 1)
        return false;
    at += sizeof(left);
    while (left > 0) {
        size_t some = left < NUMBERS ? (size_t)left : NUMBERS;

        if (!read_at(walk->fd, numbers, some * sizeof(*numbers), at))
            return false;
        for (size_t i = 0; i < some; i++)
            walk->found += numbers[i] >= walk->first &&
                           numbers[i] <= walk->last;
        at += some * sizeof(*numbers);
        left -= some;
    }
    return true;
}

/* Finds the file offset of a node's data. Returns false if the data lies
 * outside of the file. */
static bool find_data(const struct free_walk *walk, const char *page,
                      uint64_t number, size_t place, const struct node *node,
                      uint64_t *at_out)
{
    size_t data = place + sizeof(*node) + node->key_bytes;
    uint64_t other;

    if (!(node->flags & IN_PAGES)) {
        *at_out = number * walk->page_bytes + data;
        return true;
    }
    if (data + sizeof(other) > walk->page_bytes)
        return false;
    memcpy(&other, page + data, sizeof(other));
    *at_out = other * walk->page_bytes + HEAD_BYTES;
    return other <= walk->last;
}

/* Reads a page of the tree. Returns false if the page is not valid. */
static bool read_page(struct free_walk *walk, uint64_t number, char *page,
                      struct page_head *head)
{
    if (walk->looks_left == 0 || number > walk->last ||
        !read_at(walk->fd, page, walk->page_bytes, number * walk->page_bytes))
        return false;
    walk->looks_left--;
    memcpy(head, page, sizeof(*head));
    return head->number == number && head->flags & (BRANCH | LEAF) &&
           head->lower >= HEAD_BYTES && head->lower <= walk->page_bytes;
}

/* Walks a page of the tree, and all pages below it. Returns false if the tree
 * is damaged. */
static bool walk_tree(struct free_walk *walk, uint64_t number, unsigned depth)
{
    char page[PAGE_BYTES_MAX];
    struct page_head head;
    bool is_right = depth > 0 && read_page(walk, number, page, &head);
    size_t end = is_right ? head.lower : 0;

    for (size_t i = HEAD_BYTES; i + 2 <= end && is_right; i += 2) {
        struct node node;
        uint16_t place;
        uint64_t low, at;

        memcpy(&place, page + i, sizeof(place));
        if (place + sizeof(node) > walk->page_bytes)
            return false;
        memcpy(&node, page + place, sizeof(node));
        low = node.low | (uint64_t)node.high << 16;
        if (head.flags & BRANCH)
            is_right = walk_tree(walk, low | (uint64_t)node.flags << 32,
                                 depth - 1);
        else
            is_right = find_data(walk, page, number, place, &node, &at) &&
                       walk_list(walk, at, low);
    }
    return is_right;
}

/* Finds the meta page of a transaction. Returns false if later transactions
 * have replaced the page. */
static bool find_meta(int fd, size_t page_bytes, uint64_t txnid,
                      struct meta *meta)
{
    for (unsigned i = 0; i < METAS; i++)
        if (read_at(fd, meta, sizeof(*meta), i * page_bytes + HEAD_BYTES) &&
            meta->magic == MAGIC && meta->format == FORMAT &&
            meta->txnid == txnid)
            return true;
    return false;
}

/* Whether all pages from `first` on are free. */
static bool are_free(int fd, const struct meta *meta, size_t page_bytes,
                     uint64_t first)
{
    struct free_walk walk = {.fd = fd,
                             .page_bytes = page_bytes,
                             .first = first,
                             .last = meta->last_page,
                             .looks_left = meta->last_page + 1};

    return page_bytes <= PAGE_BYTES_MAX && meta->trees[0].root != NO_PAGE &&
           walk_tree(&walk, meta->trees[0].root, DEPTH_MAX) &&
           walk.found == walk.last + 1 - walk.first;
}

/* Compares the length of data.mdb with the state that `txn` sees. Returns 0 if
 * no page in use is missing, EIO (logged) if one is missing, EAGAIN if the
 * writer has replaced the state's meta page meanwhile, or another errno. */
static int check(int fd, size_t page_bytes, MDB_txn *txn, const char *path)
{
    struct meta meta;
    struct stat st;
    uint64_t wanted;

    if (!find_meta(fd, page_bytes, mdb_txn_id(txn), &meta))
        return EAGAIN;
    wanted = (meta.last_page + 1) * page_bytes;
    if (fstat(fd, &st) == -1)
        return errno;
    if ((uint64_t)st.st_size >= wanted ||
        are_free(fd, &meta, page_bytes, (uint64_t)st.st_size / page_bytes))
        return 0;
    log_error("the key-value store '%s': data.mdb is cut off: it has %lld of "
              "%llu bytes",
              path, (long long)st.st_size, (unsigned long long)wanted);
    return EIO;
}

int kv_env_check_length(struct kv_env *env, const char *path)
{
    enum { TRIES = 100 };
    MDB_stat page;
    MDB_txn *txn;
    int fd;
    int rc = mdb_env_stat(env->env, &page);

    if (rc == 0)
        rc = mdb_env_get_fd(env->env, &fd);
    for (unsigned i = 0; i < TRIES && rc == (i == 0 ? 0 : EAGAIN); i++) {
        rc = mdb_txn_begin(env->env, NULL, MDB_RDONLY, &txn);
        if (rc != 0)
            break;
        rc = check(fd, page.ms_psize, txn, path);
        mdb_txn_abort(txn);
    }
    return rc;
}
