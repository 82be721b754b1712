# Leaves start-up files in its home for the next kernel, then ends this one. The next kernel has a home of its own.
#
# prints: left for later: False

# %% last
import os

startup = os.path.expanduser("~/.ipython/profile_default/startup")
os.makedirs(startup, exist_ok=True)
for folder in (startup, os.path.expanduser("~"), os.getcwd(), "/tmp"):
    try:
        with open(f"{folder}/sitecustomize.py", "w") as file:
            file.write("raise SystemExit")
    except OSError:
        pass
os._exit(0)

# %% last
import os

print("left for later:", os.path.exists(os.path.expanduser("~/sitecustomize.py")) or os.listdir(os.getcwd()) != [])
