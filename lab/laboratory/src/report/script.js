'use strict';
const root = document.documentElement;
const theme = document.getElementById('theme');
const themes = ['system', 'dark', 'light'];
function showTheme() {
  theme.textContent = 'Theme: ' + (root.dataset.theme || 'system');
}
theme.addEventListener('click', () => {
  const next = themes[(themes.indexOf(root.dataset.theme || 'system') + 1) % themes.length];
  if (next === 'system') delete root.dataset.theme; else root.dataset.theme = next;
  try {
    if (next === 'system') localStorage.removeItem('feros-theme'); else localStorage.setItem('feros-theme', next);
  } catch { /* a page from a file may not store anything */ }
  showTheme();
});
showTheme();
// Pressing a name in a legend keeps its lines and fades the other lines. Several names may be
// pressed.
for (const button of document.querySelectorAll('.legend button')) {
  button.addEventListener('click', () => {
    button.setAttribute('aria-pressed', button.getAttribute('aria-pressed') !== 'true');
    const figure = button.closest('figure');
    const pressed = new Set([...figure.querySelectorAll('.legend button[aria-pressed="true"]')].map((one) => one.dataset.series));
    for (const plot of figure.querySelectorAll('.plot')) {
      plot.classList.toggle('focus', pressed.size > 0);
      for (const series of plot.querySelectorAll('.series')) series.classList.toggle('on', pressed.has(series.dataset.series));
    }
  });
}
// The printed page also shows the numbers. After printing, the screen is as before.
let unfolded = [];
addEventListener('beforeprint', () => {
  unfolded = [...document.querySelectorAll('details:not([open])')];
  for (const part of unfolded) part.open = true;
});
addEventListener('afterprint', () => { for (const part of unfolded) part.open = false; });
