"""The split functions: how soft a decision looks to the gradient.

A row goes left at a node if its score ``z``, threshold minus value, is above zero. The gradient
passes through that step as if it were a smooth function of ``z`` (straight-through):

``sigmoid``   ``1 / (1 + exp(-s z))``, with ``s = 1`` the paper's choice. Its slope vanishes fast: a
              row far from the threshold has no say.
``softsign``  ``(1 + s z / (1 + |s z|)) / 2``, of the authors' later work. Its slope falls only
              with the square of the distance, so that far rows still pull.

``s`` is the steepness. A further function is an entry of ``SPLITS``, its formula in the reference
engine, and a branch in ``gradtree.engines.arithmetic.split_slopes`` for the other one.
"""

SPLITS: dict[str, int] = {"sigmoid": 0, "softsign": 1}
"""Every split function and the number by which kernels know it. Names are taken from here."""
