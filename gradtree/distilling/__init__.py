"""The distilled tree: a forest's lesson, learned by one tree through alternating optimisation."""
