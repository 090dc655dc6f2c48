"""Fetch an address into memory, trying again after passing faults."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request

from datasets.errors import SourceError

ATTEMPTS = 3
PAUSE_SECONDS = 1.0
TIMEOUT_SECONDS = 30.0
AGENT = "gradtree-suite (dataset download)"


def fetch(address: str) -> bytes:
    """The bytes at an address, complete or not at all."""
    for attempt in range(ATTEMPTS):
        try:
            return _fetch_once(address)
        except urllib.error.HTTPError as error:
            problem = f"HTTP status {error.code}"
            if error.code < 500 and error.code != 429:
                break
        except (OSError, http.client.HTTPException) as error:
            problem = _reason(error)
        if attempt + 1 < ATTEMPTS:
            time.sleep(PAUSE_SECONDS * 2**attempt)
    raise SourceError(f"{address} cannot be fetched: {problem}")


def _fetch_once(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": AGENT})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        content: bytes = response.read()
        expected = response.headers.get("Content-Length")
    if expected is not None and len(content) != int(expected):
        raise http.client.IncompleteRead(content, int(expected) - len(content))
    return content


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", error)
    return str(inner) or type(error).__name__
