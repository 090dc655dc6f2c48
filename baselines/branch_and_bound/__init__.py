"""DL8.5's search for the tree with the fewest errors, as ``pydl8.5`` does it, but compiled.

The order of the search decides which of several optimal trees is found, and
the paper's scores are those of one of them. So everything that can change the
outcome is kept: the order of columns and sides, the bounds, what the cache
remembers, and one slip (see ``depth_two``). What cannot is done faster: rows
are sorted by class, so that one pass over a set of rows counts all classes,
and a pair of columns is counted once for both orders.

``rows``        the training rows as sets of bits
``depth_two``   the best tree of depth two on a set of rows, without branching
``cache``       what is known of each set of conditions
``search``      branching, with bounds, down to where two levels are left
``solver``      what Python calls: the search, its deadline, the tree it found
"""
