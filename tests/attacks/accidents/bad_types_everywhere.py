# Has null, numbers and lists where text and tables belong, as programs that write notebooks leave them.

# %% notebook
notebook["metadata"] = None
notebook["cells"] += [None, 3, "text", [], {}, {"cell_type": 5, "source": {"a": 1}, "metadata": []},
                      {"cell_type": "code", "source": None, "outputs": None, "metadata": {"nbgrader": "yes"}},
                      {"cell_type": "code", "source": [1, None, "x = 1\n"], "metadata": {"nbgrader": {"grade_id": 7}}},
                      {"cell_type": "heading", "level": 1, "source": "old"}, {"cell_type": "raw", "source": "raw"}]
