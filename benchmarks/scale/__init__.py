"""Growth to a million variables: time, memory, threads, files, and more than one process."""
