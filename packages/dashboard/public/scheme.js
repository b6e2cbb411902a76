// Before the first paint, so that a dark page never flashes white. Not inline: the page's policy allows no inline script.
(() => {
  let wish = 'auto';
  try {
    wish = localStorage.getItem('beckon-scheme') ?? 'auto';
  } catch {
    // A browser that keeps nothing still shows the page.
  }
  const isDark = wish === 'dark' || (wish !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
})();
