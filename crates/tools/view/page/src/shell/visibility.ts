// Whether an element is visible: its pane is chosen, it is scrolled into view, and the browser
// shows the page. Work that takes processor time or network traffic runs only for visible elements.

import type { End } from "../signal";

interface Watched {
  isInView: boolean;
  isVisible: boolean;
  tell: (isVisible: boolean) => void;
}

const watched = new Map<Element, Watched>();

const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const one = watched.get(entry.target);
    if (one === undefined) continue;
    one.isInView = entry.isIntersecting;
    settle(one);
  }
});

document.addEventListener("visibilitychange", () => watched.forEach(settle));

function settle(one: Watched): void {
  const isVisible = one.isInView && !document.hidden;
  if (isVisible === one.isVisible) return;
  one.isVisible = isVisible;
  one.tell(isVisible);
}

/** Reports when the element comes into view and leaves it; the end counts as leaving. */
export function onVisibility(element: Element, tell: (isVisible: boolean) => void): End {
  const one = { isInView: false, isVisible: false, tell };
  watched.set(element, one);
  observer.observe(element);
  return () => {
    observer.unobserve(element);
    if (watched.get(element) !== one) return;
    watched.delete(element);
    one.isInView = false;
    settle(one);
  };
}

/** Calls `start` when the element becomes visible, and ends that work when it is hidden. */
export function whileVisible(element: Element, start: () => End): End {
  let end: End | null = null;
  return onVisibility(element, (isVisible) => {
    if (isVisible) end ??= start();
    else {
      end?.();
      end = null;
    }
  });
}
