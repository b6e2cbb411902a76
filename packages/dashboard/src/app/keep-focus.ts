/** A dialog returns the focus, except if a menu item opened it, which no longer exists, or if it was removed without closing. */
const OVER_THE_PAGE = '[role="dialog"], [role="menu"]';
/** A dialog returns the focus within this time. */
const AFTER_MS = 30;

/** Returns the focus to the element before the dialog, or to the page's heading if that is gone. */
export function keepFocus(): void {
  let last: HTMLElement | null = null;
  const back = (): void => {
    if (document.activeElement !== document.body || isCovered()) return;
    const target = last?.isConnected === true ? last : document.getElementById('page-title');
    target?.focus({ preventScroll: true });
  };
  const changes = new MutationObserver(() => setTimeout(back, AFTER_MS));
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    if (!target.closest(OVER_THE_PAGE)) last = target;
    const portal = target.closest('[data-portal]');
    if (portal) changes.observe(portal, { childList: true, subtree: true });
  });
}

function isCovered(): boolean {
  return [...document.querySelectorAll(OVER_THE_PAGE)].some((element) => element.checkVisibility());
}
