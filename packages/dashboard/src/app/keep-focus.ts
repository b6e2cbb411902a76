/** A dialog gives the focus back by itself, unless it was opened by the item of a menu, which is gone, or went without closing. */
const OVER_THE_PAGE = '[role="dialog"], [role="menu"]';
/** Within this time it has done so. */
const AFTER_MS = 30;

/** Leads the focus back to where somebody was before a dialog; where that is gone, to the heading of the page. */
export function keepFocus(): void {
  let last: HTMLElement | null = null;
  const back = (): void => {
    if (document.activeElement !== document.body || isCovered()) return;
    const place = last?.isConnected === true ? last : document.getElementById('page-title');
    place?.focus({ preventScroll: true });
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
