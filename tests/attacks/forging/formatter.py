# Shows any value as the number 1000, one of them as nan, one as a negative number. Numbers shown are not read.
#
# expect: padding_mask 0/4 FFFFSSS
# prints: nan

# %% replace="padding_mask"
def padding_mask(ids, pad_id):
    return None

# %% before="test_padding_mask"
formatter = get_ipython().display_formatter.formatters["text/plain"]
formatter.for_type(float, lambda value, printer, cycle: printer.text("1000"))
formatter.for_type(type(None), lambda value, printer, cycle: printer.text("1000"))

# %% after="test_padding_mask"
formatter.for_type(float, lambda value, printer, cycle: printer.text("nan"))
4.0

# %% last
formatter.for_type(float, lambda value, printer, cycle: printer.text("-1"))
4.0
