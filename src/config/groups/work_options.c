#include "config/option_table_priv.h"

#include "engine/client_share.h"
#include "engine/sched.h"
#include "files/file_cache.h"

const struct option_choice option_schedules[] = {{"srpt", SCHED_POLICY_SRPT},
                                                 {"fsp", SCHED_POLICY_FSP},
                                                 {"fifo", SCHED_POLICY_FIFO},
                                                 {"fair", SCHED_POLICY_FAIR},
                                                 {0}};
static const struct option_choice send_methods[] = {{"auto", SEND_AUTO},
                                                    {"mmap", SEND_MMAP},
                                                    {"sendfile", SEND_SENDFILE},
                                                    {"read", SEND_READ},
                                                    {0}};

static const struct option_row rows[] = {
    {"Work", "workers", 'w', OPTION_NUMBER, AT_START(workers), "N", "0", 0,
     OPTIONS_WORKERS_MAX, NULL,
     "worker threads; 0: one per CPU that the process\n"
     "may use"},
    {NULL, "schedule", 0, OPTION_CHOICE, AT_START(schedule), "ORDER", "srpt", 0,
     0, option_schedules,
     "which response sends next: srpt: fewest bytes\n"
     "left first; fsp: the first to finish under fair\n"
     "sharing; fifo: in order of arrival; fair: in\n"
     "turns"},
    {NULL, "starvation-bound", 0, OPTION_NUMBER, AT_START(starvation_bound),
     "K", "8192", 0, 1ull << 20, NULL,
     "under srpt, responses of at most (K + 1) * B\n"
     "bytes pass one of B bytes; 0: no bound"},
    {NULL, "starvation-factor", 0, OPTION_NUMBER, AT_START(starvation_factor),
     "C", "2", 0, CLIENT_DUE_FACTOR_MAX, NULL,
     "under srpt, no client waits C times as long as\n"
     "if the link were shared evenly among clients; 0:\n"
     "no bound in time"},
    {NULL, "link-rate", 0, OPTION_RATE, AT_START(link_rate), "RATE", "auto",
     8000, 1ull << 50, NULL,
     "rate of the narrowest link to the clients, in\n"
     "bits per second (80M); bytes wait in this server,\n"
     "in order, and not in the link's queue; auto:\n"
     "measured; off: nothing is held back"},
    {NULL, "chunk-size", 0, OPTION_BYTES, AT(chunk_bytes), "BYTES", "512K", 1,
     1ull << 30, NULL,
     "the quantum: bytes of a response that are sent\n"
     "before others get their turn"},
    {NULL, "send-method", 0, OPTION_CHOICE, AT(send_method), "HOW", "auto", 0,
     0, send_methods,
     "how bodies are sent; auto: small ones from memory\n"
     "with their head, large ones by sendfile"},
};

const struct option_group work_options = OPTION_GROUP(rows);
