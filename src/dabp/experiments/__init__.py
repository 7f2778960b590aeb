"""Experiments: a plan of runs, executed resumably on one machine or many, and what is read out of the results.

``plan`` says what to run, ``run`` does it (``local`` or ``cluster``), ``store`` keeps it, and ``summary``,
``table``, ``statistics`` and ``report`` read it; the figures are in ``dabp.plots``.
"""
