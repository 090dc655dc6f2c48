"""The archive of the University of California, Irvine: one zip file per dataset.

It is fetched into memory, trying again after passing faults.
"""

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request

from datasets.errors import RefusedError, SourceError, told
from datasets.files import LARGEST_FILE, find_member
from datasets.record import Source

ADDRESS = "https://archive.ics.uci.edu/static/public/{}.zip"
PAUSES_SECONDS = (1.0, 2.0)
TIMEOUT_SECONDS = 30.0
LONGEST_SECONDS = 600.0
PIECE = 2**16
AGENT = "gradtree-suite (dataset download)"


def contents(source: Source) -> list[bytes]:
    """The files that a source names, wherever they are in the dataset's zip file."""
    archive = fetch(ADDRESS.format(source.where))
    return [find_member(archive, member) for member in source.members]


_silent_hosts: set[str] = set()
"""Hosts that could not be reached in this process; they are not waited for again."""


def fetch(address: str) -> bytes:
    """The bytes at an address, complete or not at all."""
    host = urllib.parse.urlsplit(address).netloc
    if host in _silent_hosts:
        raise SourceError(f"{address} not tried: {host} could not be reached before")
    for pause in (*PAUSES_SECONDS, None):
        try:
            return _fetch_once(address)
        except (OSError, http.client.HTTPException, ValueError) as error:
            failure = error
        status = getattr(failure, "code", 0)  # of an answer of the server
        if pause is None or (0 < status < 500 and status != 429):
            break
        time.sleep(pause)
    if not isinstance(failure, urllib.error.HTTPError | http.client.HTTPException):
        _silent_hosts.add(host)
    reason = getattr(failure, "reason", failure)
    why = told(reason if isinstance(reason, Exception) else failure)
    raise SourceError(f"{address} cannot be fetched: {f'HTTP status {status}' if status else why}")


def _fetch_once(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": AGENT})
    until = time.monotonic() + LONGEST_SECONDS
    content = bytearray()
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        while piece := response.read1(PIECE):
            content += piece
            if len(content) > LARGEST_FILE:
                raise RefusedError(f"{address} is larger than any dataset")
            if time.monotonic() > until:
                raise TimeoutError(f"not complete after {LONGEST_SECONDS:.0f} s")
        expected = response.headers.get("Content-Length") or ""
    if expected.isdecimal() and len(content) != int(expected):
        raise http.client.IncompleteRead(bytes(content), int(expected) - len(content))
    return bytes(content)
