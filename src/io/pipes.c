#include "io/pipes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Opens both ends of a pipe. Returns false when no pipe can be had, or only one
 * that is too small. */
static bool open_ends(struct pipe *pipe)
{
    int fds[2];
    int bytes;

    if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) == -1)
        return false;
    bytes = fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
    if (bytes == -1)
        bytes = fcntl(fds[1], F_GETPIPE_SZ);
    if (bytes < PIPE_BYTES_MIN) {
        close(fds[0]);
        close(fds[1]);
        return false;
    }
    *pipe = (struct pipe){
        .from = fds[0], .into = fds[1], .bytes = (size_t)bytes};
    return true;
}

static void close_pipe(struct pipes *pipes, struct pipe *pipe)
{
    close(pipe->from);
    close(pipe->into);
    free(pipe);
    pipes->open_count--;
}

void pipes_init(struct pipes *pipes, size_t open_max)
{
    *pipes = (struct pipes){.open_max = open_max};
}

void pipes_fini(struct pipes *pipes)
{
    assert(pipes->open_count == pipes->kept_count);
    while (pipes->kept) {
        struct pipe *next = pipes->kept->next;

        close_pipe(pipes, pipes->kept);
        pipes->kept = next;
    }
    pipes->kept_count = 0;
}

struct pipe *pipes_take(struct pipes *pipes)
{
    struct pipe *pipe = pipes->kept;

    if (pipe) {
        pipes->kept = pipe->next;
        pipes->kept_count--;
        return pipe;
    }
    if (pipes->open_count == pipes->open_max)
        return NULL;
    pipe = malloc(sizeof(*pipe));
    if (!pipe || !open_ends(pipe)) {
        free(pipe);
        return NULL;
    }
    pipes->open_count++;
    return pipe;
}

/* Whether a pipe is empty. The kernel is asked, and not the pipe's last user,
 * whose mistake would give a client the bytes of another client. */
static bool is_empty(const struct pipe *pipe)
{
    int left;

    return ioctl(pipe->from, FIONREAD, &left) == 0 && left == 0;
}

void pipes_give(struct pipes *pipes, struct pipe **pipe_ref)
{
    struct pipe *pipe = *pipe_ref;

    *pipe_ref = NULL;
    if (!pipe)
        return;
    if (pipes->kept_count == PIPES_KEPT_MAX || !is_empty(pipe)) {
        close_pipe(pipes, pipe);
        return;
    }
    pipe->next = pipes->kept;
    pipes->kept = pipe;
    pipes->kept_count++;
}
