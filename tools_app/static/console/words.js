// The page's own sentences, translated by the server into one JSON block.

let table;

export function word(id, values = {}) {
  table ??= JSON.parse(document.getElementById("words").textContent);
  return (table[id] ?? id).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
