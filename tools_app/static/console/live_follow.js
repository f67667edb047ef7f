// Following: new rows appear on top. The reader leaves it by reading, never by a scroll of ours.

const READING_KEYS = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " "]);

// `scroller` holds the table; `changed()` is called after each pause and resume.
export function keepFollowing(scroller, changed) {
  const following = {
    isOn: true,
    why: "",
    pause(why) {
      if (!following.isOn && why !== "panel") return; // the first cause stays, but a run is plainer
      Object.assign(following, { isOn: false, why });
      changed();
    },
    resume() {
      getSelection().removeAllRanges();
      if (scroller.contains(document.activeElement)) scroller.focus({ preventScroll: true });
      Object.assign(following, { isOn: true, why: "" });
      scroller.scrollTop = 0;
      changed();
    },
  };
  watch(scroller, following);
  return following;
}

function watch(scroller, following) {
  const scrolled = () => following.pause("scroll");
  document.addEventListener("wheel", (event) => event.deltaY && scrolled(), { passive: true });
  document.addEventListener("touchmove", scrolled, { passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.target !== document.body && !scroller.contains(event.target)) return;
    if (event.target.closest("button")) return;
    if (READING_KEYS.has(event.key)) scrolled();
  });
  // A press on the scroller itself, beside its content, is the scroll bar.
  scroller.addEventListener("pointerdown", (event) => {
    if (event.target === scroller && event.offsetX >= scroller.clientWidth) scrolled();
  });
  scroller.addEventListener("focusin", (event) => {
    if (event.target.closest("tbody")) following.pause("focus");
  });
  document.addEventListener("selectionchange", () => {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return;
    if (selection.getRangeAt(0).intersectsNode(scroller)) following.pause("select");
  });
}
