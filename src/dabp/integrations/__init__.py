"""dabp as a solver of other packages: each module imports the package that it serves."""
