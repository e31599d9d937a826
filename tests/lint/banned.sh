#!/bin/sh
# banned.sh - refuses calls that have a better sister.
#
#   strcpy strcat sprintf   no bounds        snprintf, struct bytes, struct buf
#   strtok                  hidden state     http/ and base/ parse by pointer
#   atoi                    hides errors     strtol with errno, or our own
#   gmtime localtime        one static       gmtime_r in tests; http/date
#   signal                  semantics vary   sigaction
#
# Comments and strings may name them. The status is 1 when a call is found.
set -eu

banned='strcpy|strcat|sprintf|strtok|atoi|gmtime|localtime|signal'

# shellcheck disable=SC2046
awk -v banned="(^|[^A-Za-z0-9_.>])($banned)[ \t]*\\\\(" '
    FNR == 1 {
        in_comment = 0
    }
    {
        line = $0
        gsub(/\\"/, "", line)
        gsub(/"[^"]*"/, "\"\"", line)
        code = ""
        while (line != "") {
            if (in_comment) {
                end = index(line, "*/")
                if (!end)
                    break
                line = substr(line, end + 2)
                in_comment = 0
            } else {
                start = index(line, "/*")
                if (!start) {
                    code = code line
                    break
                }
                code = code substr(line, 1, start - 1) " "
                line = substr(line, start + 2)
                in_comment = 1
            }
        }
        if (code ~ banned) {
            printf "%s:%d: banned call: %s\n", FILENAME, FNR, $0
            found = 1
        }
    }
    END {
        exit found
    }' $(find src include tests bench -name '*.[ch]' | sort) /dev/null
