"""Figures, drawn with Matplotlib; each function takes ``ax=None`` and gives the axes it drew into."""
