"""Factor→variable messages by minima over tables (Eq. 3), and the fused iteration of min-sum."""
