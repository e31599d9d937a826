/*
 * file_stamp - identifies one version of a file.
 *
 * Thread: any; a value.
 */
#ifndef FILES_FILE_STAMP_H
#define FILES_FILE_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/units.h"

struct file_stamp {
    uint64_t device;
    uint64_t inode;
    uint64_t bytes;
    int64_t modified_ns;
    int64_t changed_ns;
};

static inline struct file_stamp file_stamp_of(const struct stat *st)
{
    return (struct file_stamp){
        .device = st->st_dev,
        .inode = st->st_ino,
        .bytes = (uint64_t)st->st_size,
        .modified_ns = st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec,
        .changed_ns = st->st_ctim.tv_sec * NS_PER_S + st->st_ctim.tv_nsec};
}

static inline bool file_stamp_eq(const struct file_stamp *a,
                                 const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode &&
           a->bytes == b->bytes && a->modified_ns == b->modified_ns &&
           a->changed_ns == b->changed_ns;
}

#endif
