#include "io/socket_state.h"

#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

bool socket_ask_path(int fd, struct socket_path *path_out)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    uint32_t sent, gone;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == -1)
        return false;
    sent = info.tcpi_unacked + info.tcpi_retrans;
    gone = info.tcpi_sacked + info.tcpi_lost;
    *path_out = (struct socket_path){
        .rtt_us = info.tcpi_rtt,
        .least_rtt_us = info.tcpi_min_rtt > 0 ? info.tcpi_min_rtt : UINT32_MAX,
        .segment_bytes = info.tcpi_snd_mss,
        .unacked = info.tcpi_unacked,
        .under_way = sent > gone ? sent - gone : 0,
        .acked_ms = info.tcpi_last_ack_recv,
        .sent_ms = info.tcpi_last_data_sent};
    return true;
}

uint32_t socket_count_queued(int fd)
{
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(memory);

    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &len) == -1)
        return 0;
    return memory[SK_MEMINFO_WMEM_ALLOC];
}

uint32_t socket_count_room(int fd)
{
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(memory);
    uint32_t queued;

    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &len) == -1)
        return 0;
    queued = memory[SK_MEMINFO_WMEM_QUEUED] > memory[SK_MEMINFO_WMEM_ALLOC]
                 ? memory[SK_MEMINFO_WMEM_QUEUED]
                 : memory[SK_MEMINFO_WMEM_ALLOC];
    return queued < memory[SK_MEMINFO_SNDBUF]
               ? memory[SK_MEMINFO_SNDBUF] - queued
               : 0;
}

uint32_t socket_count_passing(int fd, uint32_t unsent_max)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof(info);
    uint64_t window, under_way;
    uint64_t passing = unsent_max;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == -1)
        return 0;
    window = (uint64_t)info.tcpi_snd_cwnd * info.tcpi_snd_mss;
    if (info.tcpi_snd_wnd < window)
        window = info.tcpi_snd_wnd;
    under_way = (uint64_t)info.tcpi_unacked * info.tcpi_snd_mss;
    if (window > under_way)
        passing += window - under_way;
    if (passing <= info.tcpi_notsent_bytes)
        return 0;
    passing -= info.tcpi_notsent_bytes;
    return passing < UINT32_MAX ? (uint32_t)passing : UINT32_MAX;
}

int socket_count_unsent(int fd)
{
    int unsent;

    return ioctl(fd, SIOCOUTQNSD, &unsent) == -1 ? -1 : unsent;
}

void socket_limit_unsent(int fd, int bytes)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
}
