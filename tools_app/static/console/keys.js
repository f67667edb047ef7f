// Single-key shortcuts, one rule for all: never while typing, composing, repeating or switched off.

export function keysAreOn() {
  return document.body.dataset.keys !== "off";
}

export function isTyping(target) {
  return target.isContentEditable || target.closest("input, textarea, select, [role=combobox]");
}

// Calls act(event) for a lone, fresh key press outside any field.
export function onKey(key, act, scope = document) {
  scope.addEventListener("keydown", (event) => {
    if (event.key !== key || event.repeat || event.isComposing || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!keysAreOn() || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    act(event);
  });
}
