"""Processor sharing and SRPT, computed for the same arrivals.

Both keep a link of the same rate busy whenever there is something to send,
without a byte in any queue:

processor sharing  all replies get equal shares: a fair server at its best,
                   and what fair queueing in the network would come near to
SRPT               all goes to the reply that has least left: no order has a
                   shorter mean response time (Schrage 1968)
"""

import heapq

# The request and the reply's last byte take half a round trip each.
HALF = 0.5


def processor_sharing(jobs):
    """When each of the jobs, (arrival, work) by arrival, is done.

    Time is counted by what every job present has received so far: a job that
    comes at level L with work w leaves when the level is L + w, so the order
    of leaving is that of a heap, and nobody's rest is ever recomputed.
    """
    done = [0.0] * len(jobs)
    leaving = []  # (level, job)
    now = level = 0.0
    for index, (arrival, work) in enumerate([*jobs, (float("inf"), 0.0)]):
        while leaving:
            end = now + (leaving[0][0] - level) * len(leaving)
            if end > arrival:
                break
            now = end
            level, job = heapq.heappop(leaving)
            done[job] = now
        if leaving:
            level += (arrival - now) / len(leaving)
        now = arrival
        heapq.heappush(leaving, (level + work, index))
    return done


def srpt(jobs):
    """The same when the job with least work left has the whole link."""
    done = [0.0] * len(jobs)
    waiting = []  # (work left, job)
    now = 0.0
    for index, (arrival, work) in enumerate([*jobs, (float("inf"), 0.0)]):
        while waiting:
            left, job = waiting[0]
            if now + left > arrival:
                heapq.heapreplace(waiting, (left - (arrival - now), job))
                break
            now += left
            done[job] = now
            heapq.heappop(waiting)
        now = arrival
        heapq.heappush(waiting, (work, index))
    return done


REFERENCES = {"ideal PS": processor_sharing, "ideal SRPT": srpt}


def _before(arrival, link, round_trips):
    """How long a request is under way to the server. A new connection takes a
    round trip before its request leaves."""
    return (HALF + (not link.keep_alive)) * round_trips.get(arrival.source, 0)


def _after(arrival, round_trips):
    return HALF * round_trips.get(arrival.source, 0)


def responses(discipline, arrivals, link, round_trips):
    """Response times in the order of the arrivals. round_trips: seconds of
    one, by the client's address."""
    begins = [arrival.start + _before(arrival, link, round_trips)
              for arrival in arrivals]
    order = sorted(range(len(arrivals)), key=begins.__getitem__)
    done = discipline([(begins[at], link.seconds(arrivals[at].size))
                       for at in order])
    found = [0.0] * len(arrivals)
    for end, at in zip(done, order):
        found[at] = end + _after(arrivals[at], round_trips) - \
            arrivals[at].start
    return found


def alone(arrival, link, round_trips):
    """The response time when there is nobody else."""
    return (_before(arrival, link, round_trips) + link.seconds(arrival.size) +
            _after(arrival, round_trips))
