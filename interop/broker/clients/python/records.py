"""What every client sends and shows: interop/broker/src/clients.rs has the same."""

import sys

SECONDS = 120
PARTITIONS = 3


def numbers(first, count):
    return range(int(first), int(first) + int(count))


def key(number):
    return str(number).encode()


def value(number):
    return f"record-{number}-".encode() + b"x" * (number % 100)


def show(partition, offset, record_key, record_value):
    print(partition, offset, record_key.decode(), record_value.decode())


def main(operations):
    """python CLIENT.py OPERATION BOOTSTRAP TOPIC ..."""
    name, bootstrap, topic, *more = sys.argv[1:]
    operations[name](bootstrap, topic, *more)
