"""A connection stays open while its path gets slow and loses packets, and ends with the proxy."""
import contextlib
import socket
import threading
import time

from ackclock_impair import Impair


def echo(listener):
    client, _ = listener.accept()
    with contextlib.suppress(ConnectionResetError):
        while data := client.recv(65536):
            client.sendall(data)


def seconds(client, size):
    """How long so many bytes take there and back."""
    begin = time.monotonic()
    client.sendall(bytes(size))
    received = 0
    while received < size:
        received += len(client.recv(65536))
    return time.monotonic() - begin


server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=echo, args=(server,), daemon=True).start()

with Impair.start("--seed", "7") as impair:
    proxy = impair.create("echo", upstream="127.0.0.1:%d" % server.getsockname()[1])
    client = socket.create_connection(proxy.address)
    with proxy.condition(delay="50ms") as slow:
        print("100 ms there and back:", seconds(client, 1) >= 0.1)
        slow.update(direction="up")
        print("50 ms:", 0.05 <= seconds(client, 1) < 0.1)
    with proxy.condition(loss="5%", delay="5ms"):
        print("every byte arrives:", seconds(client, 200_000) > 0)
    with proxy.down():
        try:
            client.recv(1)
        except ConnectionResetError:
            print("reset")
