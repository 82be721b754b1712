# Saved with old outputs, errors, widgets and numbers. They are dropped, and nothing in them is read.
#
# hides: stale

# %% notebook
widget = "application/vnd.jupyter.widget-view+json"
for each in notebook["cells"]:
    each["execution_count"] = 10**9
    each["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "stale points: 100"},
        {"output_type": "error", "ename": "stale", "evalue": "stale", "traceback": ["stale"]},
        {"output_type": "display_data", "data": {widget: {"model_id": "stale"}, "text/plain": "stale"}, "metadata": {}},
        {"output_type": "pyout", "text": "stale", "prompt_number": "x"},
    ]
notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"stale": {}}}}
