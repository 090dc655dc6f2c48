"""How fast the engines are, and how their cost grows with the size of the problem."""
