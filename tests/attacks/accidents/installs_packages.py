# Installs packages and downloads files from the notebook. Neither gets anywhere, and both end soon.
#
# prints: went on

# %% first
!pip install --quiet --retries 0 --timeout 1 einops 2>/dev/null
%pip --version
!wget -q -T 1 -t 1 https://example.org/data.csv

# %% first
print("went on")
