"""What the fuzzer cannot know about this server."""
import itertools
import re
from urllib.parse import parse_qsl, urlsplit

import schemathesis
from requests.adapters import HTTPAdapter
from schemathesis.specs.openapi.checks import negative_data_rejection

send = HTTPAdapter.send
numbers = itertools.count(1)


def send_on_its_own(adapter, request, **kwargs):
    """Sends each request from an address of its own, and with an Idempotency-Key of its own if it has one.

    Ten requests a minute without a valid key are answered 401, further ones from the same address 429,
    and the fuzzer sends hundreds; all of 127.0.0.0/8 is this machine. It also likes to send always the
    same Idempotency-Key, and would get 409 for almost everything; what is appended makes no key valid
    that was not. This stands below the fuzzer's own hooks, because not all of its requests pass them.
    """
    number = next(numbers)
    address = f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    adapter.close()
    adapter.init_poolmanager(1, 1, source_address=(address, 0))
    # A request that waits for a change is answered after its seconds, and the fuzzer gives up after ten.
    request.url = re.sub(r"([?&]warten=)(?:[2-9]|[12][0-9]|30)(?=&|$)", r"\g<1>1", request.url)
    key = request.headers.get("Idempotency-Key")
    if key and isinstance(key, str):
        request.headers["Idempotency-Key"] = f"{key}-{number}"
    return send(adapter, request, **kwargs)


HTTPAdapter.send = send_on_its_own


def has_blank(value):
    if isinstance(value, dict):
        return any(map(has_blank, value.values()))
    if isinstance(value, list):
        return any(map(has_blank, value))
    return isinstance(value, str) and not value.strip()


@schemathesis.check
def wrong_data_rejection(ctx, response, case):
    """What breaks the schema is refused; but a blank counts as nothing sent, whatever the type, and a limit
    beyond the maximum is cut to it. Of many items in one request each is refused by itself.
    """
    query = dict(parse_qsl(urlsplit(response.request.url).query, keep_blank_values=True))
    if has_blank(query) or has_blank(case.body) or "x-limit" in response.headers:
        return None
    if case.path.endswith("/stapel") and response.status_code == 200 and response.json().get("abgelehnt"):
        return None
    return negative_data_rejection(ctx, response, case)
