"""Local search: annealing, tabu, ICM, DSA and MGM."""
