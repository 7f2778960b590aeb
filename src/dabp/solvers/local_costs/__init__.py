"""A problem as local search sees it: what each change of value costs, in integers, kept as variables move."""
