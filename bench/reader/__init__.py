"""What a reader of a page sees, behind bench/reader.py.

page       a page of 70 files, as pages are
serving    the servers that are compared, all by HTTP/2 over TLS
browser    Chromium without a screen, asked by its debugging protocol
crowd      other readers of the same server, and a download beside
measure    one server: a network of its own, and visits in each case

The modules stand in the order of their imports: each uses only those above,
bench/lab/ and bench/link/.
"""
