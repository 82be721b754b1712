# Writes, appends to, truncates, renames, links, deletes and re-dates a file that is open to everybody. It stays as it is.
#
# prints: tried 10

# %% last
import os

path = "$SECRET"
tries = [
    lambda: open(path, "w").write("attack"),
    lambda: open(path, "a").write("attack"),
    lambda: os.truncate(path, 0),
    lambda: os.rename(path, path + ".moved"),
    lambda: os.link(path, "hard"),
    lambda: os.unlink(path),
    lambda: os.chmod(path, 0),
    lambda: os.utime(path, (0, 0)),
    lambda: os.mkdir(os.path.dirname(path) + "/attack-was-here"),
    lambda: os.system(f"echo attack > {path}") and None,
]
for number, attempt in enumerate(tries, 1):
    try:
        attempt()
    except OSError:
        pass
print("tried", number)
