// A run beside the stream: a plain click on a row's link opens it here, its address stays in ours.

// `opened()` is called when a run is shown. Returns close().
export function offerPanel(panel, rows, opened) {
  const title = panel.querySelector("h2");
  const link = document.getElementById("live-panel-link");
  const body = document.getElementById("live-panel-body");
  let opener = null;

  function open(id, address) {
    link.href = address;
    panel.hidden = false;
    remember(id);
    opened();
    mark(rows, id);
    htmx.ajax("GET", address, { target: body, swap: "innerHTML" });
    title.focus({ preventScroll: true });
  }

  function close() {
    if (panel.hidden) return;
    panel.hidden = true;
    body.replaceChildren(); // and with it the part that asks the server again and again
    remember(null);
    mark(rows, null);
    if (opener?.isConnected) opener.focus({ preventScroll: true });
  }

  rows.addEventListener("click", (event) => {
    const found = event.target.closest("th a");
    if (!found || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    opener = found;
    open(found.closest("tr").dataset.run, found.getAttribute("href"));
  });
  document.getElementById("live-panel-close").addEventListener("click", close);
  const asked = new URLSearchParams(location.search).get("run");
  if (asked && /^[0-9a-f-]{36}$/.test(asked)) open(asked, `/runs/${asked}/`);
  return { close };
}

function mark(rows, id) {
  for (const row of rows.children) row.classList.toggle("is-open", row.dataset.run === id);
}

function remember(id) {
  const address = new URL(location.href);
  if (id) address.searchParams.set("run", id);
  else address.searchParams.delete("run");
  history.replaceState(history.state, "", address);
}
