"""The experiments of bench/laboratory.py, each in a module of its own.

model      what an experiment is, and what comes out of one
bench      what an experiment works with
catalog    all experiments, in the order of the report

Beside these, each module is an experiment: a constant EXPERIMENT.
"""
