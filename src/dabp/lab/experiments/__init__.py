"""Experiments: a plan of runs, executed resumably on one machine or many, and what is read out of the results.

``plan`` says what to run, ``run`` does it (``local`` or ``cluster``), ``store`` keeps it, and ``table``,
``statistics``, ``figures`` and ``report`` read it; ``dabp.plots.drawing`` draws what ``figures`` computes.
"""
