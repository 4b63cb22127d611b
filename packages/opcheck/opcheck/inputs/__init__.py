"""The calls that the checks make: samples, what is guessed and varied, and the memory that they lie in."""
