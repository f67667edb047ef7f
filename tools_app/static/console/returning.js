// Back from a row's page: the same row has the focus again. Scroll is the browser's own business.

const key = () => `row:${location.pathname}${location.search}`;

export function rememberRows() {
  document.addEventListener("click", ({ target }) => {
    const link = target.closest("tbody th a[href]");
    if (link) sessionStorage.setItem(key(), link.getAttribute("href"));
  });
  const [arrival] = performance.getEntriesByType("navigation");
  if (arrival?.type !== "back_forward") return;
  const href = sessionStorage.getItem(key());
  if (href) document.querySelector(`tbody th a[href="${CSS.escape(href)}"]`)?.focus();
}
