/*
 * file_text - all bytes of one version of an open file, read beside the
 * workers.
 *
 * Thread: any; no state.
 */
#ifndef FILES_FILE_TEXT_H
#define FILES_FILE_TEXT_H

#include <stdatomic.h>

#include "codec/codec.h"
#include "files/file_stamp.h"

/* Reads stamp.bytes of the file, which has that stamp before and after, into
 * memory of codec_meter_allocate(). NULL: it has another stamp, or cannot be
 * read, or there is no memory, or stops has become true. */
MUST_USE char *file_text_read(int fd, const struct file_stamp *stamp,
                              const atomic_bool *stops,
                              struct codec_meter *meter);

#endif
