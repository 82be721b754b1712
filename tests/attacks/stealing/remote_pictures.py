# Shows pictures and styles that tell another machine who opened the page, and when. Nothing is fetched.
#
# prints: a picture
# hides: attack.example

# %% last
from IPython.display import HTML, Image, display

display(HTML("a picture<img src='https://attack.example/seen.png'><p style='background: url(//attack.example/a)'>x</p>"))
display(HTML("<link rel=stylesheet href=//attack.example/a.css><style>@import '//attack.example/b.css';</style>"))
display(HTML("<meta http-equiv=refresh content='0;url=//attack.example'><base href='//attack.example/'>"))
display(Image(url="https://attack.example/c.png"))
