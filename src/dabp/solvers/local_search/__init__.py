"""Local search: annealing, tabu, DSA, MGM and large neighbourhoods on forests."""
