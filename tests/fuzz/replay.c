/*
 * replay - gives a fuzz target the files it once was given, without a fuzzer.
 *
 * usage: replay FILE|FOLDER...
 *
 * Folders are read one level deep; one that is not there is empty. Prints the
 * number of files in cmocka's way, so that tests/run.sh can count; a target
 * that finds a fault aborts.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *path)
{
    fprintf(stderr, "replay '%s': %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

static int replay_file(int dir, const char *name)
{
    struct stat st;
    uint8_t *data;
    ssize_t got;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

    if (fd == -1 || fstat(fd, &st) == -1)
        fail(name);
    /* Exactly as many bytes as there are: a sanitizer sees the next one. */
    data = malloc((size_t)st.st_size);
    if (!data && st.st_size > 0)
        fail(name);
    got = read(fd, data, (size_t)st.st_size);
    if (got != st.st_size)
        fail(name);
    close(fd);
    fprintf(stderr, "%s\n", name); /* the last one named is the culprit */
    LLVMFuzzerTestOneInput(data, (size_t)got);
    free(data);
    return 1;
}

static int replay_folder(const char *path)
{
    struct dirent *entry;
    int count = 0;
    DIR *dir = opendir(path);

    if (!dir)
        fail(path);
    while ((entry = readdir(dir)))
        if (*entry->d_name != '.')
            count += replay_file(dirfd(dir), entry->d_name);
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++) {
        struct stat st;

        if (stat(argv[i], &st) == -1) {
            if (errno != ENOENT)
                fail(argv[i]);
        } else if (S_ISDIR(st.st_mode)) {
            count += replay_folder(argv[i]);
        } else {
            count += replay_file(AT_FDCWD, argv[i]);
        }
    }
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    printf("[  PASSED  ] %d test(s).\n", count + 1);
    return EXIT_SUCCESS;
}
