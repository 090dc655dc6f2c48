"""What the compiler is told outright, because it does not find it by itself."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from gradtree.compiling import INTERPRETED, Floats, Real

LANES = 8
"""Entries that ``add_scaled`` takes at once; rows are padded to a multiple of it."""
BLOCK_ROWS = 16
"""Rows whose scores ``subtract_mixture`` computes."""


def add_scaled(total: Floats, factor: Real, row: Floats) -> None:
    """Add ``factor * row`` to ``total``, where both have a multiple of ``LANES`` entries."""
    total += factor * row


def subtract_mixture(offset: Real, mixture: Floats, columns: Floats, scores: Floats) -> None:
    """Fill in ``offset`` minus, one after the other, the columns times their shares."""
    scores[:] = offset
    for share, column in zip(mixture, columns, strict=True):
        scores -= share * column


def prefetch(row: Floats) -> None:
    """Have the first line of ``row`` fetched from memory, and go on without waiting for it."""


if not INTERPRETED:

    def _pointer(context: Any, builder: Any, array: Any, value: Any, to: Any) -> Any:
        return builder.bitcast(context.make_array(array)(context, builder, value).data, to)

    def _spread(builder: Any, number: Any, lanes: Any) -> Any:
        vector = ir.Constant(lanes, ir.Undefined)
        for lane in range(lanes.count):
            vector = builder.insert_element(vector, number, ir.IntType(32)(lane))
        return vector

    @intrinsic
    def add_scaled(typingctx: Any, total: Any, factor: Any, row: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            lanes = ir.VectorType(context.get_value_type(factor), LANES)
            width = context.make_array(row)(context, builder, values[2]).nitems
            sums, more = (
                _pointer(context, builder, array, value, lanes.as_pointer())
                for array, value in ((total, values[0]), (row, values[2]))
            )
            scale = _spread(builder, values[1], lanes)
            count = builder.udiv(width, width.type(LANES))
            with cgutils.for_range(builder, count) as loop:
                at, of = (builder.gep(place, [loop.index]) for place in (sums, more))
                align = total.dtype.bitwidth // 8
                product = builder.fmul(scale, builder.load(of, align=align))
                builder.store(builder.fadd(builder.load(at, align=align), product), at, align=align)
            return context.get_dummy_value()

        return types.void(total, factor, row), code

    @intrinsic
    def subtract_mixture(
        typingctx: Any, offset: Any, mixture: Any, columns: Any, scores: Any
    ) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            real = context.get_value_type(offset)
            lanes, align = ir.VectorType(real, BLOCK_ROWS), offset.bitwidth // 8
            count = context.make_array(mixture)(context, builder, values[1]).nitems
            shares = _pointer(context, builder, mixture, values[1], real.as_pointer())
            column = _pointer(context, builder, columns, values[2], lanes.as_pointer())
            target = _pointer(context, builder, scores, values[3], lanes.as_pointer())
            left = cgutils.alloca_once_value(builder, _spread(builder, values[0], lanes))
            with cgutils.for_range(builder, count) as loop:
                share = builder.load(builder.gep(shares, [loop.index]))
                of = builder.load(builder.gep(column, [loop.index]), align=align)
                product = builder.fmul(_spread(builder, share, lanes), of)
                builder.store(builder.fsub(builder.load(left), product), left)
            builder.store(builder.load(left), target, align=align)
            return context.get_dummy_value()

        return types.void(offset, mixture, columns, scores), code

    @intrinsic
    def prefetch(typingctx: Any, row: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            place = _pointer(context, builder, row, values[0], byte)
            builder.call(fetch, [place, number(0), number(2), number(1)])
            return context.get_dummy_value()

        return types.void(row), code
