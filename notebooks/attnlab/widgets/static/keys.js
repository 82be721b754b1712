// Makes the controls of a view usable with the keyboard alone and known to screen readers.
// Jupyter takes keys unless the element that has the focus forbids it; a parent that does is not enough.

function name(view) {
  for (const element of view.querySelectorAll("button, input, [tabindex], .noUi-handle")) {
    element.setAttribute("data-lm-suppress-shortcuts", "true");
  }
  for (const slider of view.querySelectorAll(".widget-slider")) {
    const label = slider.querySelector(".widget-label")?.textContent;
    const shown = slider.querySelector(".widget-readout")?.textContent;
    const handle = slider.querySelector(".noUi-handle");
    if (label) handle?.setAttribute("aria-label", label);
    if (shown) handle?.setAttribute("aria-valuetext", shown);
    if (label) slider.querySelector(".widget-readout")?.setAttribute("aria-label", `${label}, as text`);
  }
  for (const choice of view.querySelectorAll(".widget-toggle-buttons")) {
    choice.setAttribute("role", "group");
    const label = choice.querySelector(".widget-label")?.textContent;
    if (label) choice.setAttribute("aria-label", label);
    for (const button of choice.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", button.classList.contains("mod-active"));
    }
  }
  for (const [n, button] of [...view.querySelectorAll(".widget-play button")].entries()) {
    button.setAttribute("aria-label", n ? "stop" : "play or pause"); // they show a symbol only
  }
  for (const button of view.querySelectorAll(".widget-toggle-button")) {
    button.setAttribute("aria-pressed", button.classList.contains("mod-active"));
  }
}

/** Arrows move within a group of buttons, as they do between radio buttons. */
function arrows(event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  const group = event.target.closest?.(".widget-toggle-buttons");
  if (!step || !group || event.target.tagName !== "BUTTON") return;
  const buttons = [...group.querySelectorAll("button:not([disabled])")];
  const next = buttons[buttons.indexOf(event.target) + step];
  event.preventDefault();
  event.stopPropagation();
  next?.focus();
  next?.click();
}

function render({ el }) {
  let view, frame;
  const changes = new MutationObserver(() => {
    if (!frame) frame = requestAnimationFrame(() => { frame = 0; attend(); });
  });
  function attend() {
    changes.disconnect(); // what is set below must not be answered
    name(view);
    changes.observe(view, { subtree: true, childList: true, attributes: true, attributeFilter: ["class", "aria-valuenow"] });
  }
  function find() { // not yet in the page when rendered
    view = el.closest(".attnlab-view");
    if (!view) return void (frame = requestAnimationFrame(find));
    frame = 0;
    view.addEventListener("keydown", arrows, true);
    attend();
  }
  find();
  return () => {
    cancelAnimationFrame(frame);
    changes.disconnect();
    view?.removeEventListener("keydown", arrows, true);
  };
}

export default { render };
