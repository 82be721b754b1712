"""The library of named faults, one module a lesson, each with a tuple FAULTS."""
