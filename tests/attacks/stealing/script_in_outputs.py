# Shows scripts, handlers and frames to whoever opens the executed notebook. What is left of them runs nothing.
#
# prints: harmless words
# hides: <script
# hides: onerror
# hides: javascript:
# hides: <iframe
# hides: <svg

# %% last
from IPython.display import HTML, SVG, Javascript, Markdown, display

display(Javascript("alert(1)"))
display(HTML("harmless words<script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a>"))
display(HTML("<iframe src='https://attack.example/'></iframe><svg onload=alert(1)></svg><form action=//attack.example>"))
display(SVG("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"))
display(Markdown("<img src=x onerror=alert(1)> [x](javascript:alert(1))"))
display({"text/html": "<b onclick=alert(1)>x</b>", "application/vnd.attack+json": {"a": 1}}, raw=True)
