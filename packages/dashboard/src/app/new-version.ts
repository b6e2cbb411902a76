const KEPT_AS = 'beckon-reloaded-at';
const NOT_AGAIN_FOR_MS = 30_000;

/**
 * A server that was updated has other files than this page knows of. Where one is missing the page is loaded anew, once: the
 * next time it is said that it broke.
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
