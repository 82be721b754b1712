import sys

# jsonschema, which every notebook goes through, takes this one in where it is installed, for addresses that notebooks
# do not hold; it builds its grammar in seconds, in every process
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
