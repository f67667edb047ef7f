// One polite voice and one urgent voice per page. Both are empty at first paint.

function say(id, text) {
  const region = document.getElementById(id);
  if (!region) return;
  region.textContent = "";
  // A later task, so that the same sentence twice is read twice.
  setTimeout(() => {
    region.textContent = text;
  }, 50);
}

export const announce = (text) => say("status", text);
export const warn = (text) => say("alert", text);
