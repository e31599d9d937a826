"""How many bytes a reply takes on the link, and how long that is.

A link carries frames. What HTB counts, and what every reference here is
computed from, are the bytes towards the client of all frames of a connection:
Ethernet, IP and TCP headers, and the frames without data that set it up and
end it.
"""

RATE_BITS = 80_000_000
MTU = 1500
ETHERNET_BYTES = 14
HEADER_BYTES = ETHERNET_BYTES + 20 + 32  # IPv4, TCP with time stamps
SEGMENT_BYTES = MTU + ETHERNET_BYTES - HEADER_BYTES
# The answer to the opening (its options are longer), an acknowledgement of
# the request, the end, and an acknowledgement of the client's end.
CONNECTION_BYTES = 74 + 3 * HEADER_BYTES
HEAD_BYTES = 250  # a reply's status line and fields, about


def data_bytes(size):
    """The bytes of the frames that carry one reply."""
    payload = HEAD_BYTES + size
    segments = -(-payload // SEGMENT_BYTES)
    return payload + segments * HEADER_BYTES


class Link:
    """A link of a rate, in wire bytes a second, and what a reply takes on it:
    with connections that are used again, or a new one for each."""

    def __init__(self, bits=RATE_BITS, keep_alive=False):
        self.rate = bits / 8
        self.keep_alive = keep_alive
        self.extra_bytes = HEADER_BYTES if keep_alive else CONNECTION_BYTES

    @property
    def goodput(self):
        """Bytes of a large file a second."""
        return self.rate * SEGMENT_BYTES / (SEGMENT_BYTES + HEADER_BYTES)

    @classmethod
    def from_goodput(cls, bytes_per_second, keep_alive):
        """The link on which a large download was that fast."""
        return cls(8 * bytes_per_second * (SEGMENT_BYTES + HEADER_BYTES) /
                   SEGMENT_BYTES, keep_alive)

    def reply_bytes(self, size):
        """All bytes that one reply takes."""
        return data_bytes(size) + self.extra_bytes

    def seconds(self, size):
        """How long the link needs for one reply when it does nothing else."""
        return self.reply_bytes(size) / self.rate
