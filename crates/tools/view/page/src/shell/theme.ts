// The theme: light, dark, or the system's choice. This browser stores it. The address does not
// contain it, since each user who opens the address has a theme already.

import { button, setText } from "./dom";

const KEY = "feros.view.theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

function read(): Theme {
  try {
    return THEMES.find((each) => each === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}

export function themeButton(): HTMLButtonElement {
  let theme = read();
  const element = button("", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Without storage, the choice lasts only as long as the page.
    }
    apply();
    window.dispatchEvent(new Event("themechange"));
  });
  const apply = (): void => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    setText(element, theme === "system" ? "Auto" : theme === "light" ? "Light" : "Dark");
    element.setAttribute("aria-label", `Theme: ${element.textContent ?? ""}`);
  };
  apply();
  return element;
}
