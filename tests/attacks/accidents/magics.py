# Uses what notebooks use: timing, plots, shell lines, captured output, another language, the debugger.
#
# prints: Wall time
# prints: from the shell

# %% before="causal_mask"
%matplotlib inline
%load_ext autoreload
%autoreload 2
%config InlineBackend.figure_format = "retina"

# %% before="causal_mask"
%%time
total = sum(range(1000))

# %% last
%%bash
echo from the shell

# %% last
%%capture captured
print("nobody sees it")

# %% last
%debug
%timeit -n 1 -r 1 total + 1
