"""A tree for people: rules in words, text, Graphviz and drawings."""
