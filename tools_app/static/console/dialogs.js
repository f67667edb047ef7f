// Opening and closing: dialogs by data-open and data-close, menus, hover hints.

// A dialog with data-fresh is loaded each time: what an earlier opening left must not be typed in.
export function openDialog(id) {
  const dialog = document.getElementById(id);
  if (!dialog || dialog.open) return false;
  if (dialog.dataset.fresh !== undefined) dialog.firstElementChild.replaceChildren();
  dialog.showModal();
  dialog.dispatchEvent(new CustomEvent("dialog-open"));
  return true;
}

export function offerDialogs() {
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener && openDialog(opener.dataset.open)) event.preventDefault();
    if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
    if (event.target.tagName === "DIALOG" && isOnBackdrop(event)) event.target.close();
    closeMenus(event.target);
  });
  document.addEventListener("dialog-done", (event) => event.target.closest("dialog")?.close());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.querySelectorAll(".hint:hover, .hint:focus-within").forEach(dismiss);
    const menu = event.target.closest("details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}

// The dialog's own padding also reports the dialog as target; only outside its box closes it.
function isOnBackdrop({ target, clientX, clientY }) {
  const box = target.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
}

function closeMenus(target) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target)) menu.open = false;
  }
}

function dismiss(hint) {
  hint.classList.add("is-dismissed");
  const restore = () => hint.classList.remove("is-dismissed");
  hint.addEventListener("mouseleave", restore, { once: true });
  hint.addEventListener("focusout", restore, { once: true });
}
