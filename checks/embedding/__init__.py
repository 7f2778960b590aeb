"""dabp inside other programs: in threads, processes, event loops, and again and again."""
