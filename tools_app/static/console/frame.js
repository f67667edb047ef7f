// The entry of every page inside the frame.

import { followLog } from "./connection.js";
import { offerCopying } from "./copying.js";
import { offerDialogs, openDialog } from "./dialogs.js";
import { onKey } from "./keys.js";
import { offerPalette } from "./palette.js";
import { rememberRows } from "./returning.js";
import { careForSwaps } from "./swaps.js";
import { keepTimes } from "./times.js";

offerCopying();
offerDialogs();
offerPalette();
careForSwaps();
keepTimes();
rememberRows();
onKey("?", () => openDialog("keys"));
onKey("/", (event) => {
  const filter = document.querySelector("[data-filter]");
  if (!filter) return;
  event.preventDefault();
  filter.focus();
});

export const feed = followLog();
