"""DL8.5's search for the tree with the fewest errors, as ``pydl8.5`` does it, but compiled.

The order of the search decides which of several equally good trees is found, and
the paper's scores are those of one of them. So everything that can change the
outcome is kept: the order of columns and sides, the bounds, what the cache
remembers, and the habits of the library's that are not in the publication:

* a column whose yes-side could not be split further is never the root of a tree
  of depth two, so that now and then a better tree is missed (``depth_two``);
* a tree that ends such a search early counts as one node (``depth_two``);
* whether a node known before has enough rows to be split is asked of its
  parent's rows (``search``);
* class numbers are taken to have no gaps (``rows.encode``).

What cannot change the outcome is done faster: rows are sorted by class, so that
one pass over a set of rows counts all classes; a pair of columns is counted
once for both orders, and on the smaller side of a candidate for both sides;
and counting and judging go over many columns with one instruction.

``rows``        the training rows as sets of bits
``pair_counts`` rows with a yes in both of two columns
``stumps``      the best split of the rows on either side of every column
``depth_two``   a node with two levels left: its best tree, without branching
``state``       what is known of sets of conditions, and the path to the node being searched
``search``      branching, with bounds, down to there
``solver``      what Python calls: the search, its deadline, the tree it found
"""
