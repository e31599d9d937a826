/*
 * delay - a cable of a certain length between two network namespaces.
 *
 *     delay NETNS_A TAP_A NETNS_B TAP_B DELAY_US [ADDRESS=DELAY_US]...
 *
 * Makes a TAP device in each namespace; what is sent into one comes out of
 * the other DELAY_US later, in both directions, so that a round trip takes
 * twice that. An IPv4 ADDRESS on side B may have a delay of its own: clients
 * near and far behind one link. Nothing is limited, reordered or lost, but
 * what would overflow a queue, and that is told at the end.
 *
 * Each delay is constant, so packets that share one leave in the order they
 * came: a ring for each delay and direction, and the clock is due at the
 * head of one of the rings.
 *
 * Prints "ready" when both devices are there. They are gone when the program
 * is: SIGTERM or SIGINT ends it, and TIME_MAX_S in any case.
 */
#include "program.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define DELAY_US_MAX 1000000
#define TIME_MAX_S 3600 /* in case whoever started us died outright */

#define SIDES 2
#define WAYS_MAX 8     /* delays, the default one included */
#define FRAME_MAX 1536 /* an Ethernet frame: 1,500 + 14, and a VLAN tag */
#define READ_MAX 64    /* frames in a row from one side */
/* At 80 Mbit/s and 30 ms 200 full frames are under way, or some thousand
 * empty acknowledgements; rings cost memory only as far as they are used. */
#define RING_FRAMES 16384

#define ETHERNET_BYTES 14
#define ETHERTYPE_AT 12
#define IPV4_SOURCE_AT (ETHERNET_BYTES + 12)
#define IPV4_TARGET_AT (ETHERNET_BYTES + 16)
#define IPV4_BYTES 20

struct frame {
    int64_t due_ns;
    uint16_t bytes;
    char data[FRAME_MAX];
};

struct ring {
    struct frame *frames;
    size_t head; /* counts on for ever; RING_FRAMES is a power of two */
    size_t tail;
};

/* One delay, and who has it. The first one is everybody else's. */
struct way {
    uint32_t address; /* on side B, as in the packet */
    int64_t delay_ns;
    struct ring rings[SIDES]; /* by the side the frames come from */
};

struct cable {
    int fds[SIDES];
    struct way ways[WAYS_MAX];
    size_t way_count;
    unsigned long frames;
    unsigned long lost;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* Makes a TAP device in a namespace made by `ip netns`. We stay there, and a
 * device belongs where it was made, so one follows the other. */
static int open_tap(const char *netns, const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    char path[256];
    int netns_fd;
    int fd;

    snprintf(path, sizeof(path), "/run/netns/%s", netns);
    netns_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (netns_fd == -1 || setns(netns_fd, CLONE_NEWNET) == -1)
        die(path);
    close(netns_fd);
    fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd == -1)
        die("/dev/net/tun");
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (ioctl(fd, TUNSETIFF, &request) == -1)
        die(name);
    return fd;
}

/* The way a frame takes: by its address on side B if it is IPv4. */
static struct way *find_way(struct cable *cable, int from,
                            const struct frame *frame)
{
    uint32_t address;

    if (cable->way_count == 1 || frame->bytes < ETHERNET_BYTES + IPV4_BYTES ||
        memcmp(frame->data + ETHERTYPE_AT, "\x08\x00", 2) != 0)
        return &cable->ways[0];
    memcpy(&address,
           frame->data + (from == 0 ? IPV4_TARGET_AT : IPV4_SOURCE_AT),
           sizeof(address));
    for (size_t i = 1; i < cable->way_count; i++) {
        if (cable->ways[i].address == address)
            return &cable->ways[i];
    }
    return &cable->ways[0];
}

static void put_frame(struct cable *cable, int from, struct frame *frame,
                      int64_t now)
{
    struct way *way = find_way(cable, from, frame);
    struct ring *ring = &way->rings[from];

    cable->frames++;
    if (ring->tail - ring->head == RING_FRAMES) {
        cable->lost++;
        return;
    }
    frame->due_ns = now + way->delay_ns;
    memcpy(&ring->frames[ring->tail++ % RING_FRAMES], frame,
           offsetof(struct frame, data) + frame->bytes);
}

static void read_frames(struct cable *cable, int from)
{
    struct frame frame;

    for (int i = 0; i < READ_MAX; i++) {
        ssize_t n = read(cable->fds[from], frame.data, sizeof(frame.data));

        if (n <= 0)
            return; /* nothing is left, or the device is still down */
        frame.bytes = (uint16_t)n;
        put_frame(cable, from, &frame, now_ns());
    }
}

/* Lets out what is due; returns when the next frame is, or INT64_MAX. */
static int64_t write_frames(struct cable *cable)
{
    int64_t next_ns = INT64_MAX;
    int64_t now = now_ns();

    for (size_t i = 0; i < cable->way_count * SIDES; i++) {
        struct ring *ring = &cable->ways[i / SIDES].rings[i % SIDES];
        int fd = cable->fds[1 - i % SIDES];

        while (ring->head < ring->tail) {
            struct frame *frame = &ring->frames[ring->head % RING_FRAMES];

            if (frame->due_ns > now) {
                if (frame->due_ns < next_ns)
                    next_ns = frame->due_ns;
                break;
            }
            if (write(fd, frame->data, frame->bytes) == -1)
                cable->lost++;
            ring->head++;
        }
    }
    return next_ns;
}

static void run(struct cable *cable)
{
    int64_t end_ns = now_ns() + (int64_t)TIME_MAX_S * NS_PER_S;
    struct pollfd polls[SIDES];

    for (int side = 0; side < SIDES; side++)
        polls[side] = (struct pollfd){.fd = cable->fds[side], .events = POLLIN};
    while (!stopped) {
        int64_t next_ns = write_frames(cable);
        int64_t now = now_ns();
        int64_t wait_ns = (next_ns < end_ns ? next_ns : end_ns) - now;
        struct timespec wait = timespec_of_ns(wait_ns > 0 ? wait_ns : 0);

        if (now >= end_ns)
            return;
        if (ppoll(polls, SIDES, &wait, NULL) == -1) {
            if (errno != EINTR)
                die("ppoll");
            continue;
        }
        for (int side = 0; side < SIDES; side++) {
            if (polls[side].revents)
                read_frames(cable, side);
        }
    }
}

static void add_way(struct cable *cable, const char *address,
                    const char *delay_text)
{
    char *end;
    long delay_us = strtol(delay_text, &end, 10);
    struct way *way = &cable->ways[cable->way_count];

    errno = EINVAL;
    if (*end != '\0' || delay_us < 0 || delay_us > DELAY_US_MAX ||
        cable->way_count == WAYS_MAX)
        die(delay_text);
    if (address && inet_pton(AF_INET, address, &way->address) != 1)
        die(address);
    way->delay_ns = (int64_t)delay_us * NS_PER_US;
    for (int side = 0; side < SIDES; side++) {
        struct ring *ring = &way->rings[side];

        ring->frames = calloc(RING_FRAMES, sizeof(*ring->frames));
        if (!ring->frames)
            die("memory");
    }
    cable->way_count++;
}

int main(int argc, char **argv)
{
    static struct cable cable;
    const struct sigaction stop = {.sa_handler = on_signal};

    if (argc < 6) {
        fprintf(stderr, "usage: delay NETNS_A TAP_A NETNS_B TAP_B DELAY_US "
                        "[ADDRESS=DELAY_US]...\n");
        return EXIT_FAILURE;
    }
    add_way(&cable, NULL, argv[5]);
    for (int i = 6; i < argc; i++) {
        char *delay_text = strchr(argv[i], '=');

        errno = EINVAL;
        if (!delay_text)
            die(argv[i]);
        *delay_text++ = '\0';
        add_way(&cable, argv[i], delay_text);
    }
    if (sigaction(SIGTERM, &stop, NULL) == -1 ||
        sigaction(SIGINT, &stop, NULL) == -1)
        die("sigaction");
    /* A timer may be this much late: 50 µs by default. */
    if (prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == -1)
        die("prctl");
    for (int side = 0; side < SIDES; side++)
        cable.fds[side] = open_tap(argv[1 + 2 * side], argv[2 + 2 * side]);
    puts("ready");
    fflush(stdout);
    run(&cable);
    fprintf(stderr, "delay: %lu frames, %lu lost\n", cable.frames, cable.lost);
    return EXIT_SUCCESS;
}
