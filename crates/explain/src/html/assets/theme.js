"use strict";

// Light or dark: what the system says, unless the reader chose. Runs before anything is painted.

const THEME = "klamm-theme";

function chosenTheme() {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null; // Storage may be forbidden.
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // It then holds for this page.
  }
}

if (chosenTheme()) document.documentElement.dataset.theme = chosenTheme();

function startTheme() {
  const button = document.querySelector(".theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () =>
    (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    setTheme(isDark() ? "light" : "dark");
    show();
  });
  system.addEventListener("change", show);
  show();
  button.hidden = false;
}
