# Searches all of its process's memory, which is a copy of the fork server's, for a hidden check's name. It is not there.
#
# prints: searched
# hides: found it

# %% last
word = "_".join(["hidden", "keys", "weigh", "nothing"]).encode()
searched = 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        span, rights, *_ = line.split()
        start, end = (int(number, 16) for number in span.split("-"))
        if "rw" not in rights or "[stack]" in line or end - start > 1 << 28:
            continue
        memory.seek(start)
        try:
            chunk = memory.read(end - start)
        except OSError:
            continue
        searched += len(chunk)
        at = chunk.find(word)
        if at >= 0 and b"found" not in chunk[at : at + 200] and b"clause" in chunk[at : at + 200]:
            print("found it")
        del chunk
print("searched" if searched > 1 << 20 else "could not search")
