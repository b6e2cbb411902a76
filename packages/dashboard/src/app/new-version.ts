const KEPT_AS = 'beckon-reloaded-at';
const NOT_AGAIN_FOR_MS = 30_000;

/**
 * An updated server has other files than this page refers to. If one is missing, the page reloads once. The
 * next time the error page is shown.
 */
export function reloadOnNewVersion(): void {
  globalThis.addEventListener('vite:preloadError', (event) => {
    const last = Number(sessionStorage.getItem(KEPT_AS) ?? 0);
    if (Date.now() - last < NOT_AGAIN_FOR_MS) return;
    sessionStorage.setItem(KEPT_AS, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
