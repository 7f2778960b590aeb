"""``python -m dabp`` is the command line."""

from dabp.cli import main

main()
