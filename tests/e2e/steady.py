"""steady.py - asks for a page by HTTPS at a steady rate, and trusts one root alone.

usage: steady.py PORT HOST ROOT RATE STOP

Every second question is asked over a connection that stays, the others over new
ones. Whoever is late makes up for it. When the file STOP is there it prints
"ASKED FAILED", and what has failed before that.
"""

import os
import socket
import ssl
import sys
import time

port, host, root, rate, stop = sys.argv[1:]
context = ssl.create_default_context(cafile=root)
question = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def connect():
    plain = socket.create_connection(("127.0.0.1", int(port)), timeout=10)
    return context.wrap_socket(plain, server_hostname=host)


def ask(connection):
    connection.sendall(question)
    got = b""
    while not got.endswith(b"certified"):
        more = connection.recv(65536)
        if not more:
            raise OSError("cut off: " + repr(got))
        got += more
    if not got.startswith(b"HTTP/1.1 200 "):
        raise OSError(repr(got))


def main():
    asked = failed = 0
    stays = connect()
    began = time.monotonic()
    while not os.path.exists(stop):
        asked += 1
        try:
            if asked % 2:
                ask(stays)
            else:
                with connect() as once:
                    ask(once)
        except OSError as error:
            failed += 1
            print(error, flush=True)
            if asked % 2:
                stays = connect()
        wait = began + asked / float(rate) - time.monotonic()
        if wait > 0:
            time.sleep(wait)
    print(asked, failed, flush=True)


main()
