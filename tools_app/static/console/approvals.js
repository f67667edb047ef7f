// The approvals queue: new cards at the end, every card as the server has it, keys on the focused.

import { keepArmed } from "./approvals_keys.js";
import { keepCountdowns } from "./approvals_countdown.js";
import { offerFeedKeys } from "./approvals_reading.js";
import { EventFeed } from "./feed.js";
import { showText } from "./visible.js";

const queue = document.getElementById("approvals");

function cardOf(approval) {
  return document.getElementById(`approval-${approval}`);
}

function noticed({ kind, agent, tool, data }) {
  const card = cardOf(data.approval);
  if (card) refresh(card);
  else if (kind === "approval.requested") append(data.approval, tool, agent);
}

function refresh(card) {
  htmx.ajax("GET", `/approvals/${card.dataset.approval}/card/`, { target: card, swap: "outerHTML" });
}

// A shell at the end; what it asks about is read from the server when it comes into view.
function append(approval, tool, agent) {
  const card = document.getElementById("approval-shell").content.querySelector("article").cloneNode(true);
  const title = card.querySelector("h2");
  card.id = `approval-${approval}`;
  card.dataset.approval = approval;
  title.id = `approval-${approval}-title`;
  card.setAttribute("aria-labelledby", title.id);
  card.setAttribute("hx-get", `/approvals/${approval}/card/`);
  card.querySelector("a").href = `/approve/${approval}/`;
  showText(card.querySelector("[data-cell=tool]"), tool);
  showText(card.querySelector("[data-cell=agent]"), agent || "–");
  queue.setAttribute("aria-busy", "true");
  queue.append(card);
  htmx.process(card);
  queue.setAttribute("aria-busy", "false");
}

keepArmed(queue);
keepCountdowns(queue, refresh);
offerFeedKeys(queue, document.getElementById("approvals-end"));

const feed = new EventFeed({ since: Number(queue.dataset.cursor), query: [["type", "approval.*"]] });
feed.addEventListener("events", ({ detail }) => detail.events.forEach(noticed));
feed.start();
