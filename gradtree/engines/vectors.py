"""What the compiler is told outright, because it does not find it by itself."""

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

intrinsic: Any = extending.intrinsic

LANES = 8
"""Entries that ``add_scaled`` takes at once; rows are padded to a multiple of it."""
BLOCK = 16
"""Parameters are updated in blocks of this many neighbours; see ``adam``."""
BLOCK_ROWS = 16
"""Rows whose scores ``subtract_mixture`` computes."""


def _pointer(context: Any, builder: Any, array: Any, value: Any, to: Any) -> Any:
    return builder.bitcast(context.make_array(array)(context, builder, value).data, to)


def _spread(builder: Any, number: Any, lanes: Any) -> Any:
    vector = ir.Constant(lanes, ir.Undefined)
    for lane in range(lanes.count):
        vector = builder.insert_element(vector, number, ir.IntType(32)(lane))
    return vector


@intrinsic
def add_scaled(typingctx: Any, total: Any, factor: Any, row: Any) -> Any:
    """Add ``factor * row`` to ``total``, where both have a multiple of ``LANES`` entries."""

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
def subtract_mixture(typingctx: Any, offset: Any, mixture: Any, columns: Any, scores: Any) -> Any:
    """Fill in ``offset`` minus, one after the other, the columns times their shares."""

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


class _Adam:
    """Vector code for the blocks of some arrays under Adam."""

    def __init__(self, context: Any, builder: Any, arrays: Any, values: Any, pace: Any) -> None:
        real = context.get_value_type(arrays[0].dtype)
        self.builder, self.align = builder, arrays[0].dtype.bitwidth // 8
        self.lanes = ir.VectorType(real, BLOCK)
        self.zero = ir.Constant(self.lanes, None)
        self.places = [
            _pointer(context, builder, array, value, self.lanes.as_pointer())
            for array, value in zip(arrays, values, strict=True)
        ]
        self.keep_1, self.keep_2, self.epsilon, *self.least = (
            _spread(builder, builder.extract_value(pace, i), self.lanes) for i in range(6)
        )

    def load(self) -> list[Any]:
        return [self.builder.load(place, align=self.align) for place in self.places]

    def store(self, *numbers: Any) -> None:
        for number, place in zip(numbers, self.places, strict=True):
            self.builder.store(number, place, align=self.align)

    def call(self, name: str, number: Any) -> Any:
        kind = ir.FunctionType(self.lanes, [self.lanes])
        name = f"llvm.{name}.v{BLOCK}f{8 * self.align}"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [number])

    def unless_small(self, number: Any, which: int) -> Any:
        size = self.call("fabs", number)
        is_large = self.builder.fcmp_ordered(">", size, self.least[which])
        return self.builder.select(is_large, number, self.zero)

    def moments(self, m: Any, v: Any, g: Any) -> tuple[Any, Any]:
        """Both moments after a step with gradient ``g``."""
        b = self.builder
        m = b.fadd(m, b.fmul(b.fsub(g, m), self.keep_1))
        v = b.fadd(v, b.fmul(b.fsub(b.fmul(g, g), v), self.keep_2))
        return self.unless_small(m, 1), self.unless_small(v, 2)


@intrinsic
def adam_step(
    typingctx: Any, value: Any, slope: Any, mean: Any, square: Any, size: Any, pace: Any
) -> Any:
    """Adam's update of one block; nonzero if any value changed. Clears the gradient.

    Operations are in the order on which the committed trainings depend to the last digit, and
    values compared to the bit: only a block that an update leaves as it was may be skipped.
    """

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        adam = _Adam(context, builder, signature.args[:4], values[:4], values[5])
        x, g, m, v = adam.load()
        m, v = adam.moments(m, v, adam.unless_small(g, 0))
        step = builder.fmul(m, _spread(builder, values[4], adam.lanes))
        root = builder.fadd(adam.call("sqrt", v), adam.epsilon)
        new = builder.fsub(x, builder.fdiv(step, root))
        adam.store(new, adam.zero, m, v)
        bits = ir.IntType(BLOCK)
        moved = builder.bitcast(builder.fcmp_unordered("!=", new, x), bits)
        return builder.zext(builder.icmp_unsigned("!=", moved, bits(0)), ir.IntType(64))

    return types.int64(value, slope, mean, square, size, pace), code


@intrinsic
def adam_wait(typingctx: Any, mean: Any, square: Any, steps: Any, pace: Any) -> Any:
    """Decay a block's moments for steps without a gradient."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        adam = _Adam(context, builder, signature.args[:2], values[:2], values[3])
        m, v = (cgutils.alloca_once_value(builder, moment) for moment in adam.load())
        with cgutils.for_range(builder, values[2]):
            new = adam.moments(builder.load(m), builder.load(v), adam.zero)
            for moment, place in zip(new, (m, v), strict=True):
                builder.store(moment, place)
        adam.store(builder.load(m), builder.load(v))
        return context.get_dummy_value()

    return types.void(mean, square, steps, pace), code


@intrinsic
def prefetch(typingctx: Any, row: Any) -> Any:
    """Have the first line of ``row`` fetched from memory, and go on without waiting for it."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        place = _pointer(context, builder, row, values[0], byte)
        builder.call(fetch, [place, number(0), number(2), number(1)])
        return context.get_dummy_value()

    return types.void(row), code
