"""Reading what somebody else may have put there: files, and members of archives.

Whatever is wrong with a file or an archive, damaged or made to harm, is a ``RefusedError``. Members
of zip archives are read into memory: nothing is unpacked to disk or run, and no member of more
than a fixed number of bytes is unpacked.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from datasets.errors import RefusedError, SourceError, told

LARGEST_FILE = 256 * 2**20
"""Of a data file or an archive; the largest of the suite's has 16 MB."""
LARGEST_MEMBER = 64 * 2**20
NESTING = 2
GZIP = b"\x1f\x8b"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The others, which no known archive of a dataset uses, cannot be unpacked bit by bit."""


def read_file(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """The bytes of a file; a ``SourceError`` if there is none, refused if it is too large."""
    try:
        if not path.is_file():
            raise SourceError(f"no file {path}")
        if path.stat().st_size > limit:
            most = f"{limit // 2**20 or 1} MB"
            raise RefusedError(f"{path} is larger than {most}, the most that is read")
        return path.read_bytes()
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from error


def read_member(archive: bytes, member: str) -> bytes:
    """One member by its path; ``outer.zip!inner.csv`` names a member of a nested archive."""
    for path in member.split("!"):
        opened = _opened(archive)
        if path not in opened.namelist():
            raise RefusedError(f"the archive has no member {path}")
        archive = _read(opened, opened.getinfo(path))
    return archive


def find_member(archive: bytes, name: str) -> bytes:
    """The first member whose path ends in ``name``, also inside archives in the archive."""
    found = next(_candidates(archive, name, NESTING), None)
    if found is None:
        raise RefusedError(f"the archive has no member {name}")
    return found


def check_size(archive: bytes) -> None:
    """Refuse an archive, to be unpacked by another library, that would become too large."""
    if sum(info.file_size for info in _opened(archive).infolist()) > LARGEST_MEMBER:
        raise RefusedError("unpacked, the archive is larger than any dataset")


def gunzipped(content: bytes) -> bytes:
    """What a gzip file holds; anything else as it is."""
    if not content.startswith(GZIP):
        return content
    unpack = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpack.decompress(content, LARGEST_MEMBER + 1)
    except zlib.error as error:
        raise RefusedError(f"a damaged gzip file: {told(error)}") from error
    if len(unpacked) > LARGEST_MEMBER:
        raise RefusedError("unpacked, the file is larger than any dataset")
    if not unpack.eof:
        raise RefusedError("an incomplete gzip file")
    return unpacked


def _candidates(archive: bytes, name: str, nesting: int) -> Iterator[bytes]:
    opened = _opened(archive)
    members = [info for info in opened.infolist() if not info.filename.endswith("/")]
    for info in members:
        if PurePosixPath(info.filename).name == name:
            yield _read(opened, info)
    if nesting:
        for info in members:
            if info.filename.lower().endswith(".zip"):
                yield from _candidates(_read(opened, info), name, nesting - 1)


def _opened(archive: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(archive))
    except Exception as error:  # of a dozen kinds, depending on which byte is wrong
        raise RefusedError(f"not a complete zip archive: {told(error)}") from error


def _read(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type not in METHODS:
        raise RefusedError(f"member {info.filename} is packed in a way that is not supported")
    if info.file_size > LARGEST_MEMBER:
        raise RefusedError(f"member {info.filename} is larger than any dataset")
    try:
        # No more than the promised size is unpacked, and a wrong checksum is an error.
        return opened.read(info)
    except Exception as error:  # zlib, struct, zipfile: as above
        raise RefusedError(f"member {info.filename} cannot be read: {told(error)}") from error
