"""Sets of rows as bits of 64-bit words, and how many bits of a word are set."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray


def pack(members: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Each line of a matrix as words, the first column in the lowest bit of the first word."""
    packed = np.packbits(members, axis=1, bitorder="little")
    n_words = -(-members.shape[1] // 64)
    padded = np.zeros((len(members), n_words * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _count_instruction(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


bit_count: Any = intrinsic(_count_instruction)
"""In kernels: the number of set bits of a ``uint64``."""
