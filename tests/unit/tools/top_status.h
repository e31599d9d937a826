/*
 * top_status - a status document as sprintd serves it, short.
 */
#ifndef UNIT_TOP_STATUS_H
#define UNIT_TOP_STATUS_H

#define TOP_STATUS_TIMES(p50, p99)                      \
    "{\"count\":7,\"min\":1,\"mean\":20.5,\"p50\":" p50 \
    ",\"p90\":400,\"p99\":" p99 ",\"p999\":60000,\"max\":7000000}"
#define TOP_STATUS_NO_TIMES                                 \
    "{\"count\":0,\"min\":null,\"mean\":null,\"p50\":null," \
    "\"p90\":null,\"p99\":null,\"p999\":null,\"max\":null}"

/* All of it but for the brace at the end. */
#define TOP_STATUS_OPEN                                                                 \
    "{\"server\":\"sprintd\",\"version\":\"1.2.3\",\"uptime_s\":93784.5,"               \
    "\"time\":1763750000.123,\"workers\":2,\"schedule\":\"srpt\","                      \
    "\"draining\":false,\"requests\":{\"total\":1234567,\"by_method\":{"                \
    "\"GET\":1234000,\"HEAD\":567},\"by_status\":{\"200\":1230000,"                     \
    "\"404\":4000,\"503\":567}},\"bytes\":{\"in\":1000,"                                \
    "\"out\":1073741824},\"connections\":{\"open\":3,\"accepted\":99,"                  \
    "\"refused\":1,\"closed\":{\"client\":90,\"idle\":6}},\"cache\":{"                  \
    "\"policy\":\"sieve\",\"hits\":900,\"misses\":100,\"evictions\":5,"                 \
    "\"bytes\":2048,\"entries\":12},\"compress\":{\"sent\":700,"                        \
    "\"saved_bytes\":4096,\"made\":8,\"hopeless\":2,\"queued\":1,"                      \
    "\"memory_bytes\":1024},\"queue\":{\"depth\":4,"                                    \
    "\"depth_max\":40,\"bytes\":4096,\"overtakes\":77,\"by_worker\":["                  \
    "{\"worker\":0,\"depth\":1,\"depth_max\":30,\"bytes\":1024,"                        \
    "\"open\":1,\"requests\":600000},{\"worker\":1,\"depth\":3,"                        \
    "\"depth_max\":40,\"bytes\":3072,\"open\":2,\"requests\":634567}]},"                \
    "\"link\":{\"mode\":\"auto\",\"engaged\":true,\"held\":8,"                          \
    "\"held_bytes\":9000,\"measured\":10,\"limit_bytes\":65536,"                        \
    "\"rate_bytes_per_second\":10000000,\"delay_us\":1320},\"log\":{"                   \
    "\"lines\":1234567,\"dropped\":2,\"errors\":0},\"times\":{"                         \
    "\"wait\":" TOP_STATUS_TIMES(                                                       \
        "3",                                                                            \
        "500") ",\"unsent\":" TOP_STATUS_NO_TIMES                                       \
               "},\"sizes\":[{\"to_bytes\":1024,\"count\":7,"                           \
               "\"wait\":" TOP_STATUS_TIMES(                                            \
                   "2",                                                                 \
                   "50") ",\"total\":" TOP_STATUS_TIMES("30",                           \
                                                        "5000") "},{\"to_"              \
                                                                "bytes\":"              \
                                                                "null,"                 \
                                                                "\"count\":0,"          \
                                                                "\"wait\""              \
                                                                ":" TOP_STATUS_NO_TIMES \
                                                                ",\"total\""            \
                                                                ":" TOP_STATUS_NO_TIMES \
                                                                "}],"                   \
                                                                "\"history\":"          \
                                                                "{\"interval_"          \
                                                                "s\":1,"                \
                                                                "\"points\":["          \
                                                                "[1763749998,"          \
                                                                "50,1024,1,2,"          \
                                                                "3,1,0.5,0,1]"          \
                                                                ","                     \
                                                                "[1763749999,"          \
                                                                "0,0,null,"             \
                                                                "null,null,"            \
                                                                "null,null,0,"          \
                                                                "1],"                   \
                                                                "[1763750000,"          \
                                                                "100,2048,10,"          \
                                                                "200,3000,"             \
                                                                "400,0.955,4,"          \
                                                                "3]]},"                 \
                                                                "\"slowest\":"          \
                                                                "["                     \
                                                                "{\"time\":"            \
                                                                "1763750000,"           \
                                                                "\"method\":"           \
                                                                "\"GET\","              \
                                                                "\"target\":"           \
                                                                "\"/"                   \
                                                                "large.bin\","          \
                                                                "\"status\":"           \
                                                                "200,"                  \
                                                                "\"bytes\":"            \
                                                                "20971520,"             \
                                                                "\"total\":"            \
                                                                "7000000,"              \
                                                                "\"wait\":"             \
                                                                "60000,"                \
                                                                "\"remote\":"           \
                                                                "\"192.0.2."            \
                                                                "7\"}]"

#define TOP_STATUS TOP_STATUS_OPEN "}"

#endif
